"""Figures of a results folder for a page: the picture, what to see in it, and where it came from."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from t3cen.training.files import read_json

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Drawing:
    """A figure as a data URI; `caption` says what to see, `origin` how it was made and of which pictures."""

    name: str
    uri: str
    caption: str
    command: str
    origin: str


def drawings(folder: Path) -> Iterator[Drawing]:
    """Every figure in a folder; one that cannot be read is named and left out."""
    for path in sorted(folder.glob("[!.]*.png")):
        about = read_json(path.with_suffix(".json"))
        try:
            uri = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            log.warning("%s cannot be read (%s) and is left out", path, error.strerror)
            continue
        caption = _mapping(_mapping(about.get("config")).get("figure")).get("caption", "")
        yield Drawing(path.stem.replace("_", " "), uri, str(caption), str(about.get("command", "")), _origin(about))


def _origin(about: Mapping[str, Any]) -> str:
    data = [f"{name} ({_mapping(of).get('source', 'unknown')})" for name, of in _mapping(about.get("data")).items()]
    numbers = _mapping(about.get("numbers"))
    told = [f"pictures: {', '.join(data)}"] if data else []
    told += [str(numbers[key]) for key in ("runs", "device") if isinstance(numbers.get(key), str)]
    if commit := about.get("commit"):
        told.append(f"commit {str(commit)[:10]}{' with uncommitted changes' if about.get('dirty') else ''}")
    return "; ".join(told)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
