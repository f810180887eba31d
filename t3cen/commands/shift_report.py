"""What a shift of colour costs your model today: any network, on your own images.

    t3cen shift-report RUN --images FOLDER        finished runs: their folders, or their checkpoints/final.ckpt
    t3cen shift-report weights.pth --network torchvision/resnet18 --size 224 --images FOLDER
                                                  weights of a network of torchvision or timm, without t3cen in it

Images are shifted in hue, saturation and luminance, each by itself. Where they lie in folders by class, the share of right
answers is measured, otherwise the share of answers that stay what they are without a shift. Several models are compared in
one picture. It writes shift_report.png, .pdf, .csv, .md and, with all numbers, .json. docs/your_images.md shows one.
"""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track

from t3cen.analysis.images import evenly
from t3cen.analysis.shift_cost import ShiftReport, shift_report
from t3cen.commands import enter, parser_of
from t3cen.data.errors import DataError
from t3cen.data.photographs import items_of, pictures_below
from t3cen.models import build
from t3cen.models.network import Network
from t3cen.training.files import write_text
from t3cen.training.final import load

IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
"""The normalisation that torchvision's and timm's weights expect."""


def main(arguments: Sequence[str]) -> int:
    options = _parse(arguments)
    try:
        reports = dict(zip(_names(options.models), (_report(path, options) for path in options.models), strict=True))
        _write(reports, options, arguments)
    except (ValueError, OSError, DataError) as error:
        print(f"t3cen shift-report: {error}", file=sys.stderr)
        return 1
    print(markdown(reports))
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = parser_of("shift-report", __doc__)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="a finished run, or a file of weights")
    parser.add_argument(
        "--images", type=Path, required=True, help="folder of images, in sub-folders by class if there are classes"
    )
    parser.add_argument("--network", help="what weights are of, such as torchvision/resnet18 or timm/convnext_tiny")
    parser.add_argument("--size", type=int, default=224, help="height and width that weights were trained on (default: 224)")
    for what, values in IMAGENET.items():
        shown = " ".join(map(str, values))
        parser.add_argument(
            f"--{what}", nargs=3, type=float, default=values, metavar=("R", "G", "B"), help=f"normalisation (default: {shown})"
        )
    parser.add_argument("--limit", type=int, default=400, help="images looked at, spread evenly (default: 400)")
    parser.add_argument("--mode", default="clip", help="at the ends of the range: clip, fold or scale (default: clip)")
    parser.add_argument("--batch-size", type=int, default=64, help="images at a time (default: 64)")
    parser.add_argument("--output", type=Path, default=Path("outputs/shift_report"), help="folder of the report")
    return parser.parse_args(arguments)


def _names(models: Sequence[Path]) -> list[str]:
    """The shortest ends of paths that tell the models apart, without what all runs have in common."""
    paths = [path.parents[1] if path.name == "final.ckpt" else path for path in models]
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise ValueError(f"a model is given twice: {', '.join(map(str, models))}")


def _report(path: Path, options: argparse.Namespace) -> ShiftReport:
    network = load(path) if options.network is None else _library(path, options)
    assert network.image_size is not None
    every = pictures_below(options.images)
    if not every:
        raise ValueError(f"no images in {options.images}; name a folder of images")
    files = evenly(every, options.limit)
    classes = _classes(every, options.images, network)
    labels = [classes.index(_place(path, options.images)) for path in files] if classes else None
    items = items_of(files, network.image_size, labels)
    network = network.to("cuda" if torch.cuda.is_available() else "cpu")
    return shift_report(
        network,
        (items[number][0] for number in range(len(items))),
        labels,
        mode=options.mode,
        batch=options.batch_size,
        progress=lambda batches: track(
            batches,
            str(path),
            total=-(-len(files) // options.batch_size),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        ),
    )


def _library(path: Path, options: argparse.Namespace) -> Network:
    """A network of another library with the weights of a file, of which nothing is executed."""
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
        classes = len(list(weights.values())[-1])
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever a file of something else makes torch stumble over
        raise ValueError(
            f"{path} holds no weights alone ({type(error).__name__}); save them by torch.save(model.state_dict())"
        ) from error
    made: Any = build(options.network, num_classes=classes, family="plain", mean=options.mean, std=options.std)
    try:
        made.body.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"{path} holds no weights of {options.network} for {classes} classes: {error}") from error
    made.image_size = options.size
    return made.eval()


def _place(path: Path, folder: Path) -> str:
    return path.relative_to(folder).parts[0]


def _classes(files: Sequence[Path], folder: Path, network: Network) -> list[str]:
    """The network's classes, if the images lie in folders of their names, otherwise none.

    Where a network has no names of classes, they are taken to be the folders, in order of name, if there are as many.
    """
    if any(path.parent == folder for path in files):
        return []
    places = sorted({_place(path, folder) for path in files})
    if network.class_names:
        return list(network.class_names) if set(places) <= set(network.class_names) else []
    return places if len(places) == network.channels else []


def _write(reports: Mapping[str, ShiftReport], options: argparse.Namespace, arguments: Sequence[str]) -> None:
    from t3cen.figures import save, style
    from t3cen.figures.shift_report import draw

    with style.house_style():
        figure, numbers = draw(reports, f"Under a shift of colour: {options.images.name}")
    command = shlex.join(["t3cen", "shift-report", *arguments])
    save.save(figure, numbers, options.output, "shift_report", command=command, config={"arguments": list(arguments)})
    write_text(options.output / "shift_report.csv", as_csv(reports))
    write_text(options.output / "shift_report.md", markdown(reports))
    print(f"{options.output}/shift_report.png, .pdf, .csv, .md, .json", file=sys.stderr)


def as_csv(reports: Mapping[str, ShiftReport]) -> str:
    """Every point: model, axis, amount (hue in turns), measure, share in [0, 1]."""
    lines = ["model,axis,amount,measure,share"]
    for name, report in reports.items():
        for axis, points in report.scores.items():
            lines += [f"{name},{axis},{amount:.4f},{report.measure},{share:.4f}" for amount, share in points]
    return "\n".join(lines) + "\n"


def markdown(reports: Mapping[str, ShiftReport]) -> str:
    """A line for each model and axis: unshifted, mean over the shifts, worst, and where the worst is; in percent."""
    first = next(iter(reports.values()))
    lines = [
        f"{first.measure.capitalize()} (%) on {first.images} images under a shift of colour",
        "",
        "| model | axis | unshifted | mean over shifts | worst | at |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, report in reports.items():
        for axis in report.scores:
            amount, worst = report.worst(axis)
            at = f"{360 * amount:+.0f}°" if axis == "hue" else f"{amount:+.2f}"
            shares = " | ".join(f"{100 * share:.1f}" for share in (report.unshifted, report.mean(axis), worst))
            lines.append(f"| {name} | {axis} | {shares} | {at} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    enter("shift-report", main)
