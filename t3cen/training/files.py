"""Files that are complete or absent, and folders only one run writes."""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from t3cen.experiments import plain_json

log = logging.getLogger(__name__)

LOCK = "run.lock"
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)
_held: set[IO[str]] = set()


class RunInProgress(RuntimeError):
    """Another process is writing this run's folder."""


def _let_go() -> None:
    """A forked process, such as a loader's, has no part in the locks of the one it came from and outlives it at times."""
    for file in _held:
        file.close()
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


def write_json(path: Path, content: Any) -> None:
    """`write_text` of `content` as JSON."""
    write_text(path, json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` so that a reader finds the old file, the new file or none, never half of one.

    Raises:
        OSError: it cannot be written; the error names `path`, not the draft beside it.
    """
    try:
        _write_text(path, text)
    except OSError as error:
        error.filename = str(path)
        raise


def _write_text(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.fchmod(handle, 0o644)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """What `write_json` left in `path`; nothing, with a warning, where it cannot be read or is no mapping."""
    if not os.path.lexists(path):
        return {}
    try:
        content = plain_json.read(path)
        if isinstance(content, dict):
            return content
        log.warning("%s holds no mapping and is left out", path)
    except plain_json.BadFile as error:
        log.warning("%s cannot be read (%s) and is left out", path, error)
    return {}


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder's `run.lock`; the operating system lets go of it when the process ends, however it ends.

    Raises:
        RunInProgress: another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _opened(folder / LOCK, os.O_RDWR | os.O_CREAT) as file:
        for _ in range(5):  # a look at the lock (`writer`) holds it for an instant
            if _locked(file, fcntl.LOCK_EX):
                break
            time.sleep(0.05)
        else:
            raise RunInProgress(f"{folder} is being written by {_holder(folder)}; wait for it or stop it first")
        file.truncate(0)
        file.write(f"process {os.getpid()} on {os.uname().nodename}")
        file.flush()
        _held.add(file)
        try:
            yield
        finally:
            _held.discard(file)


def _opened(path: Path, flags: int) -> IO[str]:
    return os.fdopen(no_link(path, flags), "r+" if flags & os.O_RDWR else "r")


def no_link(path: str | Path, flags: int) -> int:
    """`os.open` of a file that is no link, an `opener` for `open`: what a link points to is not ours to write to.

    Raises:
        OSError: it is one.
    """
    try:
        return os.open(path, flags | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(f"{path} is a symbolic link; delete it") from error
        raise


def _holder(folder: Path) -> str:
    return (folder / LOCK).read_text().strip() or "another process"


def writer(folder: Path) -> str | None:
    """The process that is writing `folder`, as it signed itself, or None."""
    try:
        file = _opened(folder / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with file:
        return None if _locked(file, fcntl.LOCK_SH) else _holder(folder)


def _locked(file: IO[str], kind: int) -> bool:
    """Take a lock of this kind, unless another process has one that excludes it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        log.warning("%s is on a file system without locks: two equal runs would not notice each other", file.name)
    return True
