"""What classes a trained network sees in images: its answers and their probabilities.

    t3cen predict RUN IMAGE...               a finished run's folder or its checkpoints/final.ckpt, and images
    t3cen predict RUN FOLDER -o answers.csv  every image below a folder, into a file; .json for JSON

Images are turned by their EXIF orientation, scaled along the shorter side to the size the network was trained on, and cut to
the middle square, as in the tests of data=folder. Nothing in the checkpoint is executed.
"""

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from torch.utils.data import DataLoader

from t3cen.commands import enter, parser_of
from t3cen.data.errors import DataError
from t3cen.data.photographs import items_of, pictures_below
from t3cen.models.network import Network
from t3cen.training.files import write_text
from t3cen.training.final import load


def main(arguments: Sequence[str]) -> int:
    options = _parse(arguments)
    try:
        network = load(options.run)
        paths = images_in(options.images)
        found = predict(network, paths, batch=options.batch_size, workers=options.num_workers)
        text = FORMATS[_format(options)](paths, network.class_names, found.tolist())
        if options.output is None:
            sys.stdout.write(text)
        else:
            options.output.parent.mkdir(parents=True, exist_ok=True)
            write_text(options.output, text)
    except (ValueError, OSError, DataError) as error:
        print(f"t3cen predict: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = parser_of("predict", __doc__)
    parser.add_argument("run", type=Path, help="folder of a finished run, or its checkpoints/final.ckpt")
    parser.add_argument("images", nargs="+", type=Path, metavar="IMAGE", help="image files, or folders of them")
    parser.add_argument("-o", "--output", type=Path, help="a .csv or .json file (default: CSV on the standard output)")
    parser.add_argument("--json", action="store_true", help="JSON on the standard output")
    parser.add_argument("--batch-size", type=int, default=64, help="images at a time (default: 64)")
    parser.add_argument("--num-workers", type=int, default=0, help="processes that read images (default: 0)")
    options = parser.parse_args(arguments)
    if options.batch_size < 1 or options.num_workers < 0:
        parser.error(
            f"--batch-size must be at least 1 and --num-workers at least 0, got {options.batch_size}, {options.num_workers}"
        )
    if options.output is not None and options.output.suffix.lower() not in (".csv", ".json"):
        parser.error(f"--output must end in .csv or .json, got {options.output}")
    return options


def _format(options: argparse.Namespace) -> str:
    return ".json" if options.json else ".csv" if options.output is None else options.output.suffix.lower()


def images_in(places: Sequence[Path]) -> list[Path]:
    """The files named, and every image below the folders named, each once.

    Raises:
        FileNotFoundError: a place is neither.
        ValueError: a folder holds no image.
    """
    found: dict[Path, None] = {}
    for place in places:
        if place.is_dir():
            below = pictures_below(place)
            if not below:
                raise ValueError(f"no images in {place}; name a folder of image files, or the files")
            found |= dict.fromkeys(below)
        elif place.is_file():
            found[place] = None
        else:
            raise FileNotFoundError(f"no image or folder {place}")
    return list(found)


@torch.no_grad()
def predict(network: Network, paths: Sequence[Path], *, batch: int = 64, workers: int = 0) -> torch.Tensor:
    """Probabilities `(images, classes)` of image files, in float32 on the CPU.

    Raises:
        DataError: an image cannot be read; the message names it.
    """
    size = network.image_size
    assert size is not None
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = network.to(device)
    loader = DataLoader(items_of(paths, size), batch_size=batch, num_workers=workers)
    shown = track(loader, f"{len(paths)} images", console=Console(stderr=True), disable=not sys.stderr.isatty())
    return torch.cat([network(images.to(device)).float().softmax(1).cpu() for images, _ in shown])


def as_csv(paths: Sequence[Path], names: Sequence[str], probabilities: Sequence[Sequence[float]]) -> str:
    """A line for each image: file, class, its probability, and that of every class."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(["image", "class", "probability", *(f"p({name})" for name in names)])
    for path, row in zip(paths, probabilities, strict=True):
        lines.writerow([path, names[row.index(max(row))], f"{max(row):.6f}", *(f"{p:.6f}" for p in row)])
    return file.getvalue()


def as_json(paths: Sequence[Path], names: Sequence[str], probabilities: Sequence[Sequence[float]]) -> str:
    """The same as a list of objects."""
    found: list[dict[str, Any]] = [
        {
            "image": str(path),
            "class": names[row.index(max(row))],
            "probability": max(row),
            "probabilities": dict(zip(names, row, strict=True)),
        }
        for path, row in zip(paths, probabilities, strict=True)
    ]
    return json.dumps(found, indent=1) + "\n"


FORMATS = {".csv": as_csv, ".json": as_json}

if __name__ == "__main__":
    enter("predict", main)
