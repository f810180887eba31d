"""What a run logged while it trained, from the `metrics.csv` of its sittings; what is damaged is named and left out."""

import csv
import logging
import math
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger(__name__)
LARGEST = 2.0**53


def rows(folder: Path) -> Iterator[dict[str, str]]:
    """Every whole line of every sitting, the earlier sittings first."""
    for path in sorted(folder.glob("csv/*/metrics.csv"), key=_sitting):
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)  # an editor may have put a mark first
            whole = lines if lines and lines[-1].endswith("\n") else lines[:-1]  # the last one is being written, or torn
            yield from csv.DictReader(whole)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            log.warning("%s cannot be read (%s) and is left out", path, error)


def number(text: str | None) -> float | None:
    """A finite number of a cell; None where it holds none."""
    try:
        value = float(text or "")
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and abs(value) < LARGEST else None


def steps_done(folder: Path) -> int:
    """Training steps up to the last line that was logged, 0 where nothing was."""
    return int(max((step for row in rows(folder) if (step := number(row.get("step"))) is not None), default=-1.0)) + 1


def _sitting(path: Path) -> tuple[int, str]:
    text = path.parent.name.rpartition("_")[2]
    return (int(text) if text.isdecimal() and len(text) < 10 else 0, path.parent.name)
