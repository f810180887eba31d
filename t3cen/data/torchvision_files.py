"""Checks before torchvision reads a data set, so that an error names the file and says what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from t3cen.data.checksums import checksum
from t3cen.data.errors import DataError, broken, missing


def require(name: str, folder: Path, files: Sequence[str], alternatives: Sequence[str] = ()) -> None:
    """Every one of the files and folders exists.

    Raises:
        DataError: some do not; all of them are named.
    """
    absent = [file for file in files if not (folder / file).exists()]
    if absent:
        raise missing(name, ", ".join(absent), folder, alternatives)


def verify(name: str, folder: Path, checksums: Mapping[str, str]) -> None:
    """Every file has its published MD5.

    Raises:
        DataError: one has not.
    """
    for file, expected in checksums.items():
        found = checksum(folder / file, "md5")
        if found != expected:
            raise broken(name, folder / file, f"has MD5 {found}, {expected} expected")


def without_checks(dataset: type, **lists: Any) -> type:
    """The torchvision class with its file lists replaced: checksums are `verify`'s business, once and by name."""
    return type(dataset.__name__, (dataset,), lists)


def read(name: str, folder: Path, make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """`make(*arguments, **options)`, its errors told as a broken data set."""
    try:
        return make(*arguments, **options)
    except DataError:
        raise
    except Exception as error:  # whatever a damaged file makes the reader stumble over
        raise broken(name, folder, f"cannot be read ({type(error).__name__}: {error})", error) from error
