"""The worked example of docs/your_images.md: a folder of images, from a first training to the classes of new images.

python scripts/your_images.py                 draws tissue of two hospitals and does every step; about ten minutes on two cores
python scripts/your_images.py --count 12 --scale smoke   does it run at all
"""

import argparse
import subprocess
import sys
from pathlib import Path

from PIL import Image

from t3cen.data.camelyon_synthetic import patch
from t3cen.training.job import environment

PARTS = {"train": 0, "test": 2}
"""The hospital that each part of the images is drawn from."""
CLASSES = ("normal", "tumour")
SIZE = 64
RUNS = {"plain": ["model=plain", "backbone=torchvision/resnet18", "model.width=null"], "s4": ["model=t3cen", "model.group=s4"]}


def draw(folder: Path, count: int) -> Path:
    """`count` patches of drawn tissue in each part, `<folder>/{train,test}/{normal,tumour}/*.png`."""
    for part, hospital in PARTS.items():
        for number in range(count):
            pixels, label = patch(hospital, number, SIZE, seed=0)
            path = folder / part / CLASSES[label] / f"{number:04d}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.transpose(1, 2, 0)).save(path)
    return folder


def call(command: str, *arguments: object) -> None:
    """One of t3cen's commands; the script ends where it fails."""
    line = [str(argument) for argument in arguments]
    print("\n$ t3cen", command.replace("_", "-"), *line, flush=True)
    done = subprocess.run([sys.executable, "-m", f"t3cen.commands.{command}", *line], env=environment(), check=False)
    if done.returncode:
        sys.exit(done.returncode)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("outputs/your_images"), help="of the images and all that is made")
    parser.add_argument("--count", type=int, default=600, help="images in each part (default: 600)")
    parser.add_argument("--scale", default="laptop", help="of the trainings (default: laptop)")
    options = parser.parse_args(arguments)
    folder = options.folder
    images = draw(folder / "tissue", options.count)
    for name, settings in RUNS.items():
        common = ["data=folder", f"data.root={images}", f"scale={options.scale}", f"name={name}", "logger.wandb=off"]
        call("train", *common, *settings, f"outputs={folder}", f"hydra.run.dir={folder}/{name}")
        call("shift_report", *(folder / run for run in list(RUNS)[: list(RUNS).index(name) + 1]),
             "--images", images / "test", "--output", folder / f"report_{name}")  # fmt: skip
        if name == "plain":
            call("recommend", images, "--output", folder / "recommendation")
    call("predict", folder / "s4", images / "test", "--output", folder / "answers.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
