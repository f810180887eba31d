"""Large files that appear when they are whole, and whose unfinished beginnings do not stay."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path


@contextmanager
def draft(target: Path) -> Iterator[BufferedWriter]:
    """A file to write, which becomes `target` when the block ends and is removed when it raises.

    What processes that were killed left of earlier drafts is removed first; drafts that others are at work on are locked.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f"{target.name}.*.part"):
        _remove_if_left(left)
    path = target.with_name(f"{target.name}.{os.uname().nodename}-{os.getpid()}.part")
    try:
        with path.open("wb") as file:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(path, target)
    finally:
        path.unlink(missing_ok=True)


def _remove_if_left(path: Path) -> None:
    with suppress(OSError), path.open("rb") as file:  # gone already, locked, or on a file system without locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
