"""Reading every `result.json` under a folder: what can be trusted, and what cannot, with the reason."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from t3cen.experiments.record import RESULT, BadRecord, Record, read
from t3cen.progress import Progress

ASIDE = ("checkpoints", "csv", "wandb", "measured", ".snapshots", ".submitit")
"""Folders without records."""


@dataclass(frozen=True)
class Refused:
    """A `result.json` that is not used, and why."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return printable(f"{self.path}: {self.reason}")


def printable(text: str) -> str:
    """`text` in one line, without what steers a terminal or is half of a character; such are written as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@dataclass(frozen=True)
class Results:
    """Every trustworthy record under a folder, and every refused one with its reason."""

    records: tuple[Record, ...]
    refused: tuple[Refused, ...]


def find(folder: Path) -> Iterator[Path]:
    """Every `result.json` under `folder`, in order of path, through links too; checkpoints and logs are not walked.

    Of a folder that cannot be looked into, the one it may hold.
    """
    yield from _find(folder, frozenset())


def _find(folder: Path, above: frozenset[str]) -> Iterator[Path]:
    inside = above | {os.path.realpath(folder)}
    if len(inside) == len(above):  # a link back
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        yield folder / RESULT
        return
    yield from (folder / RESULT for entry in entries if entry.name == RESULT)
    for entry in entries:
        if entry.name not in ASIDE and os.path.isdir(entry):
            yield from _find(folder / entry.name, inside)


def load(folder: Path) -> Results:
    """Read every result under `folder`.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"no results folder {folder}; train something first, or name another with --outputs")
    records, refused = [], []
    paths = list(find(Path(folder)))
    for path in Progress("results", iterable=paths, unit="file", leave=False, delay=1):
        try:
            records.append(read(path))
        except BadRecord as error:
            refused.append(Refused(path, str(error)))
    return Results(tuple(records), tuple(refused))
