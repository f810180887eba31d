"""JSON files that anybody may have written or damaged: plain values, or refused in one line."""

import json
import math
import re
from pathlib import Path
from typing import Any

DEEPEST = 50
"""Mappings and lists within each other; no file of this project has ten."""
LARGEST = 2**63
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class BadFile(ValueError):
    """A file that is not plain JSON; the message says why, without naming the file."""


def read(path: Path) -> Any:
    """What `path` holds: no NaN or infinity, no number of hundreds of digits, no key twice, nothing nested too deeply.

    Raises:
        BadFile: it cannot be read, or is not that.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text, parse_constant=_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=_once)
    except OSError as error:
        raise BadFile(f"it cannot be read ({error.strerror})") from error
    except RecursionError:
        raise BadFile(f"it is nested more than {DEEPEST} deep") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadFile(f"it is not whole JSON ({error})") from error
    if _HALF.search(text):
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise BadFile("it holds half of a character") from None
    level, depth = [content], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise BadFile(f"it is nested more than {DEEPEST} deep")
        parts = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [item for items in parts for item in items]
    return content


def _constant(text: str) -> float:
    raise BadFile(f"it holds {text}")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadFile(f"it holds {text}, which is not finite")
    return value


def _whole(text: str) -> int:
    if len(text) > 20 or abs(int(text)) >= LARGEST:
        raise BadFile(f"it holds a whole number of {len(text)} digits")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise BadFile(f"it holds {next(name for name in names if names.count(name) > 1)!r} twice")
    return content
