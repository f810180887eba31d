"""Errors that say what is missing or broken in data, and what to do."""

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


def broken(name: str, path: Path | str, why: str, cause: BaseException | None = None) -> DataError:
    """The error for files that are there but not right.

    Args:
        name: the data set, as in `conf/data`.
        path: the file.
        why: what is wrong, to be read after the path.
        cause: what was raised, see `advice`.
    """
    told = advice(cause, f"Delete it and run `{command('data')} {name}`, or replace it by a whole copy.")
    return DataError(f"{name}: {path} {why}. {told}")


def advice(cause: BaseException | None, damaged: str) -> str:
    """What to do about a file that could not be read: `damaged`, unless the operating system's number says it is not to blame."""
    if isinstance(cause, OSError) and cause.errno is not None:
        return "Nothing has to be deleted: see to rights, disk or limits, and try again."
    return damaged


def unwritable(path: Path | str, error: OSError) -> DataError:
    """The error for files that cannot be made here (no room, no permission), whatever they are made from."""
    return DataError(
        f"{path} cannot be written ({error.strerror or error}). Make room or get the right to write there, or choose another "
        "folder with `data_root=PATH`, and try again; nothing has to be deleted or downloaded anew."
    )
