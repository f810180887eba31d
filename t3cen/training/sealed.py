"""Files of tensors that end in their own digest: one changed bit is noticed before anything is read from them."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import torch

_MARK = b"\nsha256 "
_LENGTH = len(_MARK) + 64


class DamagedFile(ValueError):
    """A file that is not what was written."""


def seal(path: Path) -> None:
    """Append the digest of a file, and have the disk hold all of it."""
    with path.open("r+b") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.write(_MARK + digest.encode())
        file.flush()
        os.fsync(file.fileno())


def save(content: Any, path: Path) -> None:
    """Write `content` to `path`, sealed, whole or not at all."""
    draft = path.with_name(f".{path.name}")
    try:
        torch.save(content, draft)
        seal(draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def load(path: Path) -> Any:
    """What was saved in `path`, tensors on the CPU. `torch.load` reads such a file too, without looking at the digest.

    Raises:
        DamagedFile: it has another content than was sealed, or no digest.
    """
    whole = path.read_bytes()
    content, end = whole[:-_LENGTH], whole[-_LENGTH:]
    if not end.startswith(_MARK):
        raise DamagedFile(f"{path} is cut short, or was never sealed with its digest")
    if end[len(_MARK) :] != hashlib.sha256(content).hexdigest().encode():
        raise DamagedFile(f"{path} is damaged: its content has another digest than when it was written")
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
