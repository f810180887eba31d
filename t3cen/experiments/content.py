"""A fingerprint of a folder of a person's own files, so that a run on other files is another run."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from omegaconf import OmegaConf


def content(folder: str | Path) -> str:
    """16 hex digits of the names and sizes of all files below `folder`, hidden ones left out, wherever the folder lies.

    Empty where there is no such folder: whoever reads the files says so.
    """
    folder = Path(folder)
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            digest.update(f"{name.as_posix()}\0{path.stat().st_size}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16] if folder.is_dir() else ""


def title(folder: str | Path) -> str:
    """The name of a folder as a part of a run's name."""
    return re.sub(r"[^\w.-]", "_", Path(folder).resolve().name)


def register_resolvers() -> None:
    """Make `${content:folder}` and `${title:folder}` known to OmegaConf."""
    OmegaConf.register_new_resolver("content", content, replace=True)
    OmegaConf.register_new_resolver("title", title, replace=True)
