"""Which code a record was made with, as far as it can change a number."""

import hashlib
import subprocess
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CODE = (".py", ".c", ".h")
READERS = frozenset(
    {"__init__.py", "analysis", "commands", "experiments.py", "figures", "results", "tables", "testing", "testing.py"}
)
"""Parts of t3cen/ that only read results or check layers; a change there leaves every trained network as it was."""


@cache
def fingerprint(package: Path = PACKAGE) -> str:
    """A hash of the training code as it lies on disk, committed or not; equal where only readers differ."""
    digest = hashlib.sha256()
    for path in sorted(path for path in package.rglob("*") if path.suffix in CODE):
        parts = path.relative_to(package).parts
        if parts[0] not in READERS:
            digest.update("/".join(parts).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def committed(commit: str) -> str:
    """The same idea for a commit, from git's own hashes; the commit itself where this repository does not have it."""
    command = ["git", "-C", str(PACKAGE.parent), "ls-tree", commit, f"{PACKAGE.name}/"]
    try:
        listing = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return commit
    kept = [line for line in listing.splitlines() if line.rpartition("/")[2] not in READERS]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest() if kept else commit
