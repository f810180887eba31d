"""Where a result comes from: code, libraries, machine."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from t3cen.project import IS_INSTALLED, PROJECT
from t3cen.results.code import fingerprint

if TYPE_CHECKING:
    import torch

VERSION = "code_version.json"
"""In a copy of the code: what it is a copy of."""
LIBRARIES = ("t3cen", "torch", "torchvision", "pytorch-lightning", "numpy", "hydra-core")


def _git(*arguments: str) -> str | None:
    if IS_INSTALLED:  # a repository around it is another project's
        return None
    try:
        done = subprocess.run(["git", "-C", str(PROJECT), *arguments], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def code_version() -> dict[str, str | bool]:
    """`commit`, whether the tree was `dirty` (tracked or untracked files differ from it), and the training code's `code_hash`.

    Outside git the commit is `"unknown"`, and so it is of an installed package, which counts as not changed.
    """
    if (PROJECT / VERSION).exists():
        return json.loads((PROJECT / VERSION).read_text())
    dirty = not IS_INSTALLED and _git("status", "--porcelain") != ""
    return {"commit": _git("rev-parse", "HEAD") or "unknown", "dirty": dirty, "code_hash": fingerprint()}


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
    from t3cen.nn import kernels  # here, for the same reason

    return kernels.status()
