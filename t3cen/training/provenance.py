"""Where a result comes from: code, libraries, machine."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from t3cen.experiments import code, plain_json
from t3cen.project import IS_INSTALLED, PROJECT

if TYPE_CHECKING:
    import torch

CODE = ("t3cen", "conf", "train.py")
"""Where the project's code lies: files elsewhere are no part of a result."""
VERSION = "code_version.json"
"""In a copy of the code: what it is a copy of."""
LIBRARIES = ("t3cen", "torch", "torchvision", "pytorch-lightning", "numpy", "hydra-core")


def _git(*arguments: str) -> list[str] | None:
    """What git prints, divided at NUL characters; None where there is no git or no repository."""
    if IS_INSTALLED:  # a repository around it is another project's
        return None
    try:
        done = subprocess.run(["git", "-C", str(PROJECT), *arguments], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return [part for part in done.stdout.strip().split("\0") if part]


def check_copy(folder: Path) -> dict[str, Any]:
    """What a copy of the code is a copy of.

    Raises:
        ValueError: a file of it is not what it was when it was copied, or there is another one.
    """
    try:
        version: dict[str, Any] = plain_json.read(folder / VERSION)
        files: dict[str, str] = version.pop("files")
    except (plain_json.BadFile, AttributeError, KeyError, TypeError):
        raise ValueError(_changed(folder / VERSION, folder)) from None
    for name, digest in files.items():
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise ValueError(_changed(path, folder))
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and "__pycache__" not in path.parts and name not in (VERSION, *files):
            raise ValueError(_changed(path, folder))
    return version


def _changed(path: Path, folder: Path) -> str:
    return f"{path} was changed since the code was copied for queued jobs; delete {folder} and start them again"


def version_on_disk() -> dict[str, Any]:
    """What code lies on disk: the `commit`, and the files that are `changed` since or that git does not know.

    In a copy of the code, what it is a copy of. Outside git the commit is `"unknown"`, and what is changed None. Of an installed
    package nothing counts as changed.
    """
    if (PROJECT / VERSION).exists():
        return check_copy(PROJECT)
    if IS_INSTALLED:
        return {"commit": "unknown", "changed": []}
    commit = _git("rev-parse", "HEAD")
    known = _git("diff", "-z", "--name-only", "--relative", "HEAD", "--", *CODE)
    new = _git("ls-files", "-z", "--others", "--exclude-standard", "--", *CODE)
    return {"commit": commit[0] if commit else "unknown", "changed": None if known is None or new is None else [*known, *new]}


def code_version(config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The `commit`, and whether the code is `dirty`: altered since, that of the run `config` or, without one, any.

    For a run also `code`, its files with their digests, and `code_hash`, their fingerprint (`t3cen.experiments.code`).
    """
    version = version_on_disk()
    commit, changed = version["commit"], version["changed"]
    if config is None:
        return {"commit": commit, "dirty": changed is None or bool(changed)}
    files = code.parts(config)
    dirty = changed is None or not files.keys().isdisjoint(changed)
    return {"commit": commit, "dirty": dirty, "code": files, "code_hash": code.fingerprint(files)}


def library_versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def device_name(device: torch.device) -> str:
    """The accelerator's or the processor's own name, with the number of threads."""
    import torch  # here: the rest of this file serves commands that are to start at once

    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    threads = torch.get_num_threads()
    return f"{device.type}: {model or platform.machine()}, {threads} thread{'' if threads == 1 else 's'}"


def transforms() -> str:
    """How transforms over the group ran on this processor; compiled ones round otherwise than matrix products."""
    from t3cen.ops import kernels  # here, for the same reason

    return kernels.status()
