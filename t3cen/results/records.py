"""Reading every `result.json` under a folder: what can be trusted, and what cannot, with the reason."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from t3cen.experiments.record import RESULT, BadRecord, Record, read


@dataclass(frozen=True)
class Refused:
    """A `result.json` that is not used, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Results:
    """Every trustworthy record under a folder, and every refused one with its reason."""

    records: tuple[Record, ...]
    refused: tuple[Refused, ...]


def find(folder: Path) -> Iterator[Path]:
    """Every `result.json` under `folder`, in order of path; checkpoints and logs are not walked."""
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in ("checkpoints", "csv", "wandb", "measured"))
        if RESULT in files:
            yield Path(where, RESULT)


def load(folder: Path) -> Results:
    """Read every result under `folder`.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"no results folder {folder}; train something first, or name another with --outputs")
    records, refused = [], []
    for path in find(Path(folder)):
        try:
            records.append(read(path))
        except BadRecord as error:
            refused.append(Refused(path, str(error)))
    return Results(tuple(records), tuple(refused))
