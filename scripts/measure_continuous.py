"""Equivariance error of continuous networks between the steps, as they are used: calibrated, trained, in training mode.

python scripts/measure_continuous.py                  docs/results/continuous_error.json, and the tables of docs/continuous.md
python scripts/measure_continuous.py z2cnn-h5         the named networks alone, merged into that file
python scripts/measure_continuous.py --page           the tables of docs/continuous.md alone
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

from t3cen.data import MNIST
from t3cen.models import build
from t3cen.testing import interpolated, network_error

ANGLES = (0.31, 0.41, 0.5, -1.77)
"""In steps, along every axis at once."""
STATES = ("random", "calibrated", "trained")
MODES = {"": "In evaluation mode", ", training": "In training mode"}
"""Behind a state's name in the file, and above a table."""
NETWORKS = {
    "z2cnn-h5": {},
    "z2cnn-h3s3": {},
    "resnet18-l5": {},
    "resnet44-h3": {},
    "resnet50-h3": {},
    "resnet18-scale5": {"family": "t3cen_scale"},
    "resnet18-scale5-lift4": {"family": "t3cen_scale", "lift": 4},
}
PAGE, BEGIN, END = Path("docs/continuous.md"), "<!-- measure_continuous.py -->\n", "<!-- end -->\n"
SIDE, STEPS, BATCH, IMAGES = 28, 40, 8, 2
KEPT = Path("docs/results/continuous_error.json")
COMMAND = "python scripts/measure_continuous.py"
Errors = dict[str, dict[str, dict[str, dict[str, float]]]]
"""By network, points, state and kind of image."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--points", type=int, nargs="+", default=[3], help="points of the activations, times the order")
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--page", action="store_true", help="measure nothing")
    options = parser.parse_args(arguments)
    if unknown := set(options.networks) - set(NETWORKS):
        parser.error(f"unknown network {', '.join(sorted(unknown))}; known: {', '.join(NETWORKS)}")
    found = json.loads(options.out.read_text())["errors"] if options.out.exists() else {}
    if not options.page:
        data = MNIST(source="bundled", batch_size=BATCH)
        data.setup()
        for name in options.networks:
            for points in [*options.points, None]:
                found.setdefault(name, {})["discrete" if points is None else f"Q={points}N"] = measured(name, points, data)
                options.out.write_text(json.dumps({"command": COMMAND, "protocol": protocol(), "errors": found}, indent=1) + "\n")
    print(tables(found))
    if options.out == KEPT:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    return 0


def protocol() -> dict[str, object]:
    return {"data": "bundled MNIST, hues shifted", "steps": STEPS, "batch": BATCH, "angles": ANGLES, "images": IMAGES}


def measured(name: str, points: int | None, data: MNIST) -> dict[str, dict[str, float]]:
    """By state of the network and kind of image, the largest error of the features; of the discrete network without points."""
    images = {
        "digits": torch.stack([data.splits.test["shift"][i][0] for i in range(IMAGES)]),
        "noise": torch.rand(IMAGES, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0)),
    }
    network, found = made(name, points), {}
    for state in STATES:
        into(state, network, data)
        for mode in MODES:
            used = copy.deepcopy(network).train(bool(mode))  # whose statistics the measurement moves
            found[state + mode] = {kind: error(used, rgb) for kind, rgb in images.items()}
    return found


def made(name: str, points: int | None) -> nn.Module:
    backbone, group, *_ = name.split("-")
    options = dict(NETWORKS[name])
    limit = {"activation": points, "lift": options.pop("lift", "exact")}
    torch.manual_seed(0)
    return build(backbone, group.replace("scale", "h"), 10, band_limit=limit if points else None, **options)


def into(state: str, network: nn.Module, data: MNIST) -> None:
    """Bring the network from the state before into this one."""
    network.train()
    if state == "calibrated":
        with torch.no_grad():
            for images, _ in batches(data):
                network(images)
    if state == "trained":
        optimizer = torch.optim.SGD(network.parameters(), lr=0.02, momentum=0.9)
        for images, labels in batches(data):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(images), labels).backward()
            optimizer.step()


def batches(data: MNIST) -> list[tuple[Tensor, Tensor]]:
    """`STEPS` batches of the first epoch."""
    loader = iter(data.train_dataloader())
    return [next(loader) for _ in range(STEPS)]


def error(network: nn.Module, rgb: Tensor) -> float:
    group = network.lifting.group
    elements = [[angle if order > 1 else 0 for order in group.orders] for angle in ANGLES]
    return network_error(network, rgb, elements=elements, act_output=interpolated(group)).worst


def page(text: str, found: Errors) -> str:
    """The text of docs/continuous.md with the tables between its marks made anew."""
    return text[: text.index(BEGIN)] + BEGIN + "\n" + tables(found) + "\n\n" + text[text.index(END) :]


def tables(found: Errors) -> str:
    """A table for each mode, a line for each network and kind of image; in evaluation mode beside the discrete network."""
    parts = []
    for mode, words in MODES.items():
        columns = {state: ("", f"{state}{mode}") for state in STATES}
        if not mode:
            columns |= {f"discrete, {state}": ("discrete", state) for state in ("random", "trained")}
        lines = ["| network | points | images | " + " | ".join(columns) + " |", "|---" * 3 + "|---:" * len(columns) + "|"]
        for name, by_points in found.items():
            for points in [points for points in by_points if points != "discrete"]:
                for kind in ("digits", "noise"):
                    found_here = [by_points.get(who or points, {}).get(state, {}).get(kind) for who, state in columns.values()]
                    values = ["" if value is None else f"{value:.1e}" for value in found_here]  # what was not measured yet
                    lines.append(f"| {name} | {points} | {kind} | {' | '.join(values)} |")
        parts += [f"{words}:", "\n".join(lines)]
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
