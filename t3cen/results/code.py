"""Which code a record was made with, as far as it can change a number."""

import hashlib
import subprocess
from functools import cache

from t3cen.tables.schema import TABLE_DIR

PROJECT = TABLE_DIR.parents[1]
READERS = frozenset({"__init__.py", "analysis", "experiments.py", "figures", "results", "tables", "testing", "testing.py"})
"""Parts of t3cen/ that only read results or check layers; a change there leaves every trained network as it was."""


@cache
def version(commit: str, dirty: bool = False) -> str:
    """A name for the training code at `commit`: equal where only documents, tests or readers differ.

    Uncommitted changes, and commits this repository does not have, stand for themselves.
    """
    try:
        listing = subprocess.run(
            ["git", "-C", str(PROJECT), "ls-tree", commit, "t3cen/"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        listing = ""
    kept = [line for line in listing.splitlines() if line.rpartition("/")[2] not in READERS]
    if not kept:
        return f"{commit}{'+' if dirty else ''}"
    tree = hashlib.sha256("\n".join(kept).encode()).hexdigest()[:12]
    return f"{tree}+{commit[:12]}" if dirty else tree
