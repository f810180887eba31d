"""A copy of the code for queued jobs, which later edits do not change."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from t3cen.project import IS_INSTALLED, PROJECT
from t3cen.training.files import write_json
from t3cen.training.provenance import VERSION, check_copy, version_on_disk

PARTS = ("t3cen",) if IS_INSTALLED else ("t3cen", "conf", "train.py", "pyproject.toml")


def snapshot(outputs: Path) -> Path:
    """Copy the project's code, as it is now, to `<outputs>/.snapshots/<hash of it>`, unless it is there; returns that folder.

    The copy knows the commit it was made from, for the provenance of results, and the digest of each of its files.

    Raises:
        ValueError: it is there, and was changed since it was made.
    """
    contents = {name: (PROJECT / name).read_bytes() for name in _files()}
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    version = version_on_disk()
    digest.update(repr(sorted(version.items())).encode())
    folder = outputs.absolute() / ".snapshots" / digest.hexdigest()[:16]
    if folder.exists():
        check_copy(folder)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="."))
    for name, content in contents.items():
        (draft / name).parent.mkdir(parents=True, exist_ok=True)
        (draft / name).write_bytes(content)
    files = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    write_json(draft / VERSION, {**version, "files": files})
    draft.chmod(0o755)
    try:
        os.rename(draft, folder)
    except OSError:  # another sweep was faster
        shutil.rmtree(draft)
    return folder


def _files() -> list[str]:
    """The project's files below `PARTS`: what git knows or would add; outside git, or installed, all but caches."""
    command = ["git", "-C", str(PROJECT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *PARTS]
    names: list[str] = []
    if not IS_INSTALLED:  # a repository around it is another project's
        with suppress(OSError, subprocess.SubprocessError):
            listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split("\0")
            names = [name for name in listed if name and (PROJECT / name).is_file()]
    if not names:
        paths = (
            path for part in PARTS for path in ([PROJECT / part] if (PROJECT / part).is_file() else (PROJECT / part).rglob("*"))
        )
        names = [str(path.relative_to(PROJECT)) for path in paths if path.is_file() and "__pycache__" not in path.parts]
    return names
