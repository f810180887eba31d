"""The worked example of docs/your_images.md: a folder of images, from a first training to the classes of new images.

python scripts/your_images.py                            about ten minutes on two cores
python scripts/your_images.py --count 12 --scale smoke   does it run at all
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from t3cen.analysis import recommend_folder
from t3cen.data.shapes3d_render import RenderedShapes
from t3cen.training.job import environment

CLASSES = ("cube", "cylinder", "sphere", "capsule")
HUES = {"train": range(5), "val": range(5), "test": range(5, 10)}
"""Which of the ten hues of floor, wall and object each part has: the camera of the test images sees other colours."""
FACTORS = (10, 10, 10, 8, 4, 15)
"""Of 3D Shapes: hues of floor, wall and object, size, shape, view."""


def draw(folder: Path, count: int, size: int) -> Path:
    """`count` rendered objects of each class in each part, `<folder>/{train,val,test}/{cube,cylinder,sphere,capsule}/*.png`."""
    shapes, rng = RenderedShapes(size), np.random.default_rng(0)
    for part, hues in HUES.items():
        for label, name in enumerate(CLASSES):
            (folder / part / name).mkdir(parents=True, exist_ok=True)
            for number in range(count):
                chosen = (*rng.choice(hues, 3), rng.integers(8), label, rng.integers(15))
                pixels = shapes.picture(int(np.ravel_multi_index(chosen, FACTORS))).permute(1, 2, 0).numpy()
                Image.fromarray(pixels).save(folder / part / name / f"{number:04d}.png")
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
    parser.add_argument("--count", type=int, default=250, help="images of each class in each part (default: 250)")
    parser.add_argument("--size", type=int, default=48, help="their height and width (default: 48)")
    parser.add_argument("--scale", default="laptop", help="of the trainings (default: laptop)")
    options = parser.parse_args(arguments)
    folder = options.folder
    images = draw(folder / "objects", options.count, options.size)
    common = ["data=folder", f"data.root={images}", f"data.image_size={options.size}", f"scale={options.scale}"]

    def train(name: str, *settings: str) -> None:
        call("train", *common, *settings, f"outputs={folder}", f"hydra.run.dir={folder / name}", "logger.wandb=off")

    train("plain", "model=plain", "backbone=torchvision/resnet18", "model.width=null")
    call("shift_report", folder / "plain", "--images", images / "val", "--output", folder / "report_plain")
    call("recommend", images, "--output", folder / "recommendation")
    group = recommend_folder(images).group
    train(group, "model=t3cen", f"model.group={group}")
    call("shift_report", folder / "plain", folder / group, "--images", images / "val", "--output", folder / "report_both")
    call("predict", folder / group, images / "test", "--output", folder / "answers.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
