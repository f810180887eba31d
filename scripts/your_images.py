"""The worked example of docs/your_images.md: a folder of images, from a first training to the classes of new images.

python scripts/your_images.py                            about fifteen minutes of one core
python scripts/your_images.py --count 12 --scale smoke --seconds 1   does it run at all
python scripts/your_images.py --page                     write what was found into the page, and nothing else
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fine_tune
import numpy as np
import torch
from PIL import Image

import t3cen
from t3cen.analysis import recommend_folder, shift_report
from t3cen.data import Folder
from t3cen.data.shapes3d_render import RenderedShapes
from t3cen.figures import save, style
from t3cen.figures.shift_report import draw as draw_report
from t3cen.training.job import environment

CLASSES = ("cube", "cylinder", "sphere", "capsule")
HUES = {"train": range(5), "val": range(5), "test": range(5, 10)}
"""Which of the ten hues of floor, wall and object each part has: the camera of the test images sees other colours."""
FACTORS = (10, 10, 10, 8, 4, 15)
"""Of 3D Shapes: hues of floor, wall and object, size, shape, view."""
DOCS = Path(__file__).resolve().parents[1] / "docs"
MARK = "<!-- measured -->\n"


def draw(folder: Path, count: int, size: int) -> Path:
    """Rendered objects, `<folder>/{train,val,test}/{cube,cylinder,sphere,capsule}/*.png`: `count` a class to train on.

    A quarter of it each for validation and test.
    """
    shapes, rng = RenderedShapes(size), np.random.default_rng(0)
    for part, hues in HUES.items():
        for label, name in enumerate(CLASSES):
            (folder / part / name).mkdir(parents=True, exist_ok=True)
            for number in range(count if part == "train" else -(-count // 4)):
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


def picture(plain: Path, own: Path, tuned: Path, images: Path, group: str, folder: Path) -> None:
    """The shift report of three networks in one picture: as trained, trained anew on the group, converted and fine-tuned."""
    network = t3cen.load(plain)
    twin = fine_tune.twin(network, group)
    twin.load_state_dict(torch.load(tuned, weights_only=True))
    networks = {"ResNet18": network, f"its twin on {group.upper()}, trained anew": t3cen.load(own)}
    networks |= {"its twin with its weights, fine-tuned": twin.eval()}
    [held] = Folder(root=images, image_size=network.image_size).val_dataloader()
    batch = [torch.cat(parts)[::2] for parts in zip(*held, strict=True)]
    with style.house_style():
        figure, numbers = draw_report({name: shift_report(made, *batch) for name, made in networks.items()}, "Rendered objects")
    config = {"group": group, "seed": 0}
    save.save(figure, numbers, folder, "your_images", command="python scripts/your_images.py", config=config)


def right_answers(answers: Path) -> float:
    """The share of images whose predicted class is the folder they lie in."""
    rows = list(csv.DictReader(answers.read_text(encoding="utf-8").splitlines()))
    return sum(row["class"] == Path(row["image"]).parent.name for row in rows) / len(rows)


def page(text: str, found: dict[str, Any]) -> str:
    """The text of docs/your_images.md with what is behind the mark made anew."""
    rows = found["fine_tuned"]["rows"]
    lines = [
        f"{found['images']['train']:,} training images of {found['size']} x {found['size']} pixels, {found['images']['val']} for "
        f"validation, {found['images']['test']} for tests.",
        f"Every fine-tuning takes {found['fine_tuned']['seconds']:.0f} seconds of one core.",
        f"Right answers in percent: mean and sample standard deviation of {len({row['seed'] for row in rows} - {None})} seeds.",
        "",
        fine_tune.table(rows),
        "| column | images |",
        "|---|---|",
        "| as trained | validation, the colours of the training |",
        "| hue shifted | the same, hue turned by 30, 60, ... 330 degrees: the mean, and the worst of these |",
        "| test images | tests: other hues of floor, wall and object, as another camera would show them |",
        "",
        f"`recommend` asked for {found['group'].upper()}. Trained anew on it, with as many parameters as the plain network, the "
        f"twin gives {100 * found['trained_anew']:.1f} % right answers on the test images, and the plain network",
        f"{100 * found['plain']:.1f} %.",
        "",
        "![Right answers against a shift of hue, saturation and luminance](results/your_images.png)",
    ]
    return text.partition(MARK)[0] + MARK + "\n" + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("outputs/your_images"), help="of the images and all that is made")
    parser.add_argument("--count", type=int, default=250, help="training images of each class (default: 250)")
    parser.add_argument("--size", type=int, default=32, help="their height and width (default: 32)")
    parser.add_argument("--scale", default="laptop", help="of the trainings (default: laptop)")
    parser.add_argument("--seconds", type=float, default=45, help="of processor time for each fine-tuning (default: 45)")
    parser.add_argument("--page", action="store_true", help="copy what is in the folder into docs/, and do nothing else")
    options = parser.parse_args(arguments)
    if options.page:
        for suffix in ("json", "png"):
            shutil.copy(options.folder / f"your_images.{suffix}", DOCS / "results" / f"your_images.{suffix}")
        shutil.copy(options.folder / "found.json", DOCS / "results" / "your_images_found.json")
        text = (DOCS / "your_images.md").read_text(encoding="utf-8")
        found = json.loads((options.folder / "found.json").read_text(encoding="utf-8"))
        (DOCS / "your_images.md").write_text(page(text, found), encoding="utf-8")
        return 0
    run(options)
    return 0


def run(options: argparse.Namespace) -> None:
    """The whole example; what it found is `found.json` in its folder."""
    folder = options.folder
    images = draw(folder / "objects", options.count, options.size)
    network = ["backbone=torchvision/resnet18", "model.width=null"]
    common = ["data=folder", f"data.root={images}", f"data.image_size={options.size}", f"scale={options.scale}", *network]

    def train(name: str, *settings: str) -> None:
        call("train", *common, *settings, f"outputs={folder}", f"hydra.run.dir={folder / name}", "logger.wandb=off")

    train("plain", "model=plain")
    call("shift_report", folder / "plain", "--images", images / "val", "--output", folder / "report")
    call("recommend", images, "--output", folder / "recommendation")
    group = recommend_folder(images).group
    train(group, "model=t3cen", f"model.group={group}")
    tuned = folder / "fine_tuned"
    wanted = ["--images", images, "--group", group, "--seconds", options.seconds, "--output", tuned]
    print("\n$ python scripts/fine_tune.py", folder / "plain", *wanted, flush=True)
    fine_tune.main([str(argument) for argument in (folder / "plain", *wanted)])
    picture(folder / "plain", folder / group, tuned / "converted.pt", images, group, folder)
    shares = {}
    for name in ("plain", group):
        call("predict", folder / name, images / "test", "--output", folder / f"answers_{name}.csv")
        shares[name] = right_answers(folder / f"answers_{name}.csv")
    found = {
        "size": options.size,
        "images": {part: len(list((images / part).glob("*/*.png"))) for part in HUES},
        "group": group,
        "plain": shares["plain"],
        "trained_anew": shares[group],
        "fine_tuned": json.loads((tuned / "fine_tuned.json").read_text(encoding="utf-8")),
    }
    (folder / "found.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
