"""Digests of files, and lists of them that are written beside what was unpacked."""

from __future__ import annotations

import hashlib
from pathlib import Path

from t3cen.data.errors import broken

LIST = "SHA256SUMS"
"""A file of this name holds the digests of all files of its folder, as `sha256sum --check` reads them."""


def checksum(path: Path, algorithm: str) -> str:
    """Hexadecimal digest of a file, by the name `hashlib` knows the algorithm by."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def write_list(folder: Path) -> None:
    """List every file under a folder, hidden ones apart."""
    paths = sorted(path for path in folder.rglob("[!.]*") if path.is_file())
    (folder / LIST).write_text("".join(f"{checksum(path, 'sha256')}  {path.relative_to(folder)}\n" for path in paths))


def check_list(name: str, folder: Path) -> None:
    """Compare every listed file with its digest.

    Raises:
        DataError: one is missing or differs, or the list is damaged.
    """
    for number, line in enumerate((folder / LIST).read_text(errors="replace").splitlines(), start=1):
        digest, _, file = line.partition("  ")
        try:
            found = checksum(folder / file, "sha256")
        except (OSError, ValueError) as error:
            raise broken(name, folder / LIST, f"lists in line {number} what cannot be read ({error})") from error
        if found != digest:
            raise broken(name, folder / file, f"has SHA-256 {found}, {digest} was noted when it was unpacked")
