"""What a person is told when data are missing or broken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from t3cen.project import command


class DataError(RuntimeError):
    """A data set is missing, incomplete or damaged; the message names the file and what to do."""


class MissingData(DataError):
    """Files that are not there. Attributes: `what`, `where`."""

    def __init__(self, message: str, what: str = "", where: str = "") -> None:
        super().__init__(message)
        self.what, self.where = what, where


def missing(name: str, what: str, where: Path | str, alternatives: Sequence[str] = (), *, folder: str | None = None) -> DataError:
    """The error for absent files.

    Args:
        name: the data set, as in `conf/data`.
        what: what is missing.
        where: the path that was looked at.
        alternatives: sources made without files, such as `rendered`.
        folder: the name `t3cen data` knows the data set by; `name` unless told.
    """
    ways = [f"`{command('data')} {folder or name}` downloads it or says how to get it"]
    ways += [f"`data.source={source}` does without the files" for source in alternatives]
    ways += ["`data_root=PATH` (root=... in Python) points to a copy elsewhere"]
    message = f"{name}: {what} is missing; looked for {Path(where).absolute()}. Ways on: {'; '.join(ways)}."
    return MissingData(message, what, str(where))


def broken(name: str, path: Path | str, why: str) -> DataError:
    """The error for files that are there but not right."""
    return DataError(f"{name}: {path} {why}. Delete it and run `{command('data')} {name}`, or replace it by a whole copy.")
