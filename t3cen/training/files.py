"""Files that are complete or absent, and folders only one run writes."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class RunInProgress(RuntimeError):
    """Another process is writing this run's folder."""


def write_json(path: Path, content: Any) -> None:
    """Write `content` to `path` so that a reader finds the old file, the new file or none, never half of one."""
    text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder's `run.lock`; the operating system lets go of it when the process ends, however it ends.

    Raises:
        RunInProgress: another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "run.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise RunInProgress(f"{folder} is being written by process {holder}; wait for it or stop it first") from None
        file.truncate(0)
        file.write(f"{os.getpid()} on {os.uname().nodename}")
        file.flush()
        yield
