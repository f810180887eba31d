"""Tests on SLURM use the small runs of tests/training."""

import sys
from pathlib import Path

for folder in (Path(__file__).parent, Path(__file__).parents[1] / "training"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
