"""Digests of files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def checksum(path: Path, algorithm: str) -> str:
    """Hexadecimal digest of a file, by the name `hashlib` knows the algorithm by."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
