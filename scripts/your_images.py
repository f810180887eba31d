"""The worked example of docs/your_images.md: a folder of images, from a first training to the classes of new images.

python scripts/your_images.py                            about ten minutes of one core
python scripts/your_images.py --count 12 --scale smoke --seconds 1
                                                         does it run at all
python scripts/your_images.py --page                     write what was found into the page, and nothing else
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fine_tune
import numpy as np
import onnxruntime
import torch
from PIL import Image

import t3cen
from t3cen.analysis import recommend_folder, shift_report
from t3cen.commands import predict
from t3cen.data import Folder
from t3cen.data.shapes3d_render import RenderedShapes
from t3cen.export import export_onnx
from t3cen.figures import save, style
from t3cen.figures.shift_report import draw as draw_report
from t3cen.models.network import Network
from t3cen.training.job import environment

CLASSES = ("cube", "cylinder", "sphere", "capsule")
HUES = {"train": range(5), "val": range(5), "test": range(5, 10)}
"""Which of the ten hues of floor, wall and object each part has: the camera of the test images sees other colours."""
FACTORS = (10, 10, 10, 8, 4, 15)
"""Of 3D Shapes: hues of floor, wall and object, size, shape, view."""
AMOUNTS = {
    "hue": [k / 12 for k in range(-6, 7)],
    "saturation": [k / 5 for k in range(-5, 6)],
    "luminance": [k / 10 for k in range(-5, 6)],
}
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


def picture(networks: dict[str, Network], data: Folder, folder: Path) -> None:
    """The shift report of the networks in one picture, on the validation images."""
    [held] = data.val_dataloader()
    batch = [torch.cat(parts)[::2] for parts in zip(*held, strict=True)]
    reports = {name: shift_report(network, *batch, amounts=AMOUNTS) for name, network in networks.items()}
    with style.house_style():
        figure, numbers = draw_report(reports, "Rendered objects")
    save.save(figure, numbers, folder, "your_images", command="python scripts/your_images.py", config={"seed": 0})


def right_answers(session: onnxruntime.InferenceSession, data: Folder) -> float:
    """The share of test images that an exported network gives the right class."""
    right = [
        session.run(["logits"], {"image": images.numpy()})[0].argmax(1) == labels.numpy()
        for images, labels in data.test_dataloader()[0]
    ]
    return float(np.concatenate(right).mean())


def page(text: str, found: dict[str, Any]) -> str:
    """The text of docs/your_images.md with what is behind the mark made anew."""
    rows, images = found["fine_tuned"]["rows"], found["images"]
    seeds = len({row["seed"] for row in rows} - {None})
    lines = [
        f"{images['train']:,} images of {found['size']} x {found['size']} pixels for training, {images['val']} for validation, "
        f"{images['test']} for tests.",
        f"Each fine-tuning takes {found['fine_tuned']['seconds']:.0f} seconds of one core. Right answers in percent, mean",
        f"(sample standard deviation) of {seeds} seeds:",
        "",
        fine_tune.table(rows),
        "| column | images |",
        "|---|---|",
        "| as trained | validation, in the colours of the training |",
        "| hue shifted | the same, their hue turned by 30, 60, ... 330 degrees: the mean, and the worst of these |",
        "| test images | tests: other hues of floor, wall and object, as another camera would show them |",
        "",
        "The twin sees fewer images in the same time. What it gains under shifts it has from the conversion. Random hues do as",
        "much here, where the shift that comes is known.",
        "",
        f"`recommend` asked for {found['group'].upper()}. The ONNX file of the fine-tuned twin gives "
        f"{100 * found['exported']:.1f} % right answers on the test images.",
        "",
        "![Right answers against a shift of hue, saturation and luminance](results/your_images.png)",
    ]
    return text.partition(MARK)[0] + MARK + "\n" + "\n".join(lines) + "\n"


def write_page(folder: Path) -> None:
    """Copy the numbers and the picture into docs/results, and write the page."""
    for name in ("your_images.png", "your_images.json"):
        shutil.copy(folder / name, DOCS / "results" / name)
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    (DOCS / "results" / "your_images_found.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (DOCS / "your_images.md").write_text(page((DOCS / "your_images.md").read_text(encoding="utf-8"), found), encoding="utf-8")


def run(options: argparse.Namespace) -> None:
    """The whole example; what it found is `found.json` in its folder."""
    folder = options.folder
    images = draw(folder / "objects", options.count, options.size)
    plain, tuned = folder / "plain", folder / "fine_tuned"
    settings = [f"data.root={images}", f"data.image_size={options.size}", f"scale={options.scale}", f"outputs={folder}"]
    network = ["model=plain", "backbone=torchvision/resnet18", "model.width=null", f"hydra.run.dir={plain}", "logger.wandb=off"]
    call("train", "data=folder", *settings, *network)
    call("shift_report", plain, "--images", images / "val", "--output", folder / "report")
    call("recommend", images, "--output", folder / "recommendation")
    group = recommend_folder(images).group
    wanted = [plain, "--images", images, "--group", group, "--output", tuned]
    wanted += ["--seconds", options.seconds, "--jobs", options.jobs, "--seeds", *options.seeds]
    print("\n$ python scripts/fine_tune.py", *wanted, flush=True)
    if not (tuned / "fine_tuned.json").exists():
        fine_tune.main([str(argument) for argument in wanted])
    exported = use(folder, group)
    found = {
        "size": options.size,
        "images": {part: len(list((images / part).glob("*/*.png"))) for part in HUES},
        "group": group,
        "exported": exported,
        "fine_tuned": json.loads((tuned / "fine_tuned.json").read_text(encoding="utf-8")),
    }
    (folder / "found.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def use(folder: Path, group: str) -> float:
    """Report the fine-tuned twin beside the original, export it, and predict the test images; the exported one's accuracy."""
    images, before = folder / "objects", t3cen.load(folder / "plain")
    assert before.image_size is not None
    twin = fine_tune.twin(before, group)
    twin.load_state_dict(torch.load(folder / "fine_tuned" / "twin.pt", weights_only=True))
    twin.image_size, twin.class_names = before.image_size, before.class_names
    data = Folder(root=images, image_size=before.image_size)
    picture({"ResNet18": before, f"its twin on {group.upper()}, fine-tuned": twin.eval()}, data, folder)
    paths = predict.images_in([images / "test"])
    answers = predict.as_csv(paths, before.class_names, predict.predict(twin, paths).tolist())
    (folder / "answers.csv").write_text(answers, encoding="utf-8")
    path = export_onnx(twin, (before.image_size, before.image_size), folder / "twin.onnx")
    return right_answers(onnxruntime.InferenceSession(str(path)), data)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("outputs/your_images"), help="of the images and all that is made")
    parser.add_argument("--count", type=int, default=250, help="training images of each class (default: 250)")
    parser.add_argument("--size", type=int, default=32, help="their height and width (default: 32)")
    parser.add_argument("--scale", default="laptop", help="of the training (default: laptop)")
    parser.add_argument("--seconds", type=float, default=30, help="of processor time for each fine-tuning (default: 30)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of each fine-tuning (default: 0 1 2)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fine-tunings at a time (default: one a core)")
    parser.add_argument("--page", action="store_true", help="copy what is in the folder into docs/, and do nothing else")
    options = parser.parse_args(arguments)
    write_page(options.folder) if options.page else run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
