"""One process at a time for a file that is being made."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

log = logging.getLogger(__name__)


@contextmanager
def alone(target: Path) -> Iterator[None]:
    """Hold `<target>.lock`, after whoever holds it; it is gone when nobody does, and a killed process holds nothing.

    Raises:
        OSError: the folder cannot be written.
    """
    lock = target.with_name(target.name + ".lock")
    target.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with lock.open("a") as file:
            _wait(file, target)
            if not _same(file.fileno(), lock):  # its last holder has removed it
                continue
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
            return


def _wait(file: IO[str], target: Path) -> None:
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("waiting for another process that makes %s", target)
            fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise
        log.warning("%s is on a file system without locks: two processes that make it would not notice each other", target)


def _same(handle: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
