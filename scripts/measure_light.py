"""Trained networks under other light: how equivariant they are, and whether they stay with their answers on photographs.

python scripts/measure_light.py                             docs/results/light_measured.json and its tables, from sweep=light
python scripts/measure_light.py mnist_light --seeds 1999    the named data sets alone, of one seed, merged into that file
python scripts/measure_light.py --page                      the tables of docs/light.md alone
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from t3cen.data.light_shifts import light_shifts
from t3cen.data.randomness import generator
from t3cen.figures.finished_runs import Runs, error_rates, held_out_images, trained_network
from t3cen.models.network import Network
from t3cen.nn.band_limited.activation import GroupActivation
from t3cen.testing import interpolated, network_error

DATA = {"shapes3d_light": "A", "smallnorb_light": "A", "camelyon_light": "test", "mnist_light": "in"}
"""The unshifted test set of each data set."""
ANSWERING = ("plain", "gray_world", "plain_gains", "light")
ANGLES = (0.31, 0.41, 0.5, -1.77)
"""In steps, along every axis at once."""
GAINS = ((-0.7, 0.4, -1.1), (-1.0, -1.0, -1.0), (0.3, -0.2, -0.4))
"""Of red, green and blue, in stops."""
IMAGES, CROPS = 8, 32
FINE = 5
"""Points a sample of every activation, for the same weights evaluated more finely than they were trained."""
LEVELS = (0.3, 0.7)
"""Where pictures lie that no gain of `GAINS` moves to floor or white."""
COMMAND = "python scripts/measure_light.py"
KEPT = Path("docs/results/light_measured.json")
PAGE, BEGIN, END = Path("docs/light.md"), "<!-- measure_light.py -->\n", "<!-- end -->\n"
HEADS = {
    "angles, steps": "at steps",
    "angles, between": "between steps",
    f"with {FINE} points": f"between, {FINE} points",
    "pixels cut off there": "pixels cut off",
    "exposure_down_2": "exposure −2",
    "exposure_2": "exposure ±2",
    "planckian": "radiators",
}
"""Of columns, where they are not the names in the file."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", default=list(DATA), metavar="DATA", help=", ".join(DATA))
    parser.add_argument("--outputs", default="outputs", help="folder of the finished runs, with their weights")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1999, 2000, 2001])
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--page", action="store_true", help="measure nothing")
    options = parser.parse_args(arguments)
    if unknown := set(options.data) - set(DATA):
        parser.error(f"unknown data set {', '.join(sorted(unknown))}; known: {', '.join(DATA)}")
    runs, seeds = Runs("laptop", outputs=options.outputs), options.seeds
    found = json.loads(options.out.read_text())["data"] if options.out.exists() else {}
    for data in [] if options.page else options.data:
        lit = [equivariance(network, rgb()) for network, rgb in networks(runs, data, "light", seeds)]
        kept = {row: [staying(network) for network, _ in networks(runs, data, row, seeds)] for row in ANSWERING}
        found[data] = {
            "seeds": seeds,
            "equivariance error": combined(max, lit),
            "same answers on photographs": {row: combined(fmean, shares) for row, shares in kept.items()},
        }
        options.out.write_text(json.dumps({"command": COMMAND, "protocol": protocol(), "data": found}, indent=1) + "\n")
    print(tables(found))
    if options.out == KEPT:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    return 0


def tables(found: Mapping[str, Any]) -> str:
    """Equivariance errors, a line for each data set, then for each its shares of answers that stay."""
    errors = {data: about["equivariance error"] for data, about in found.items()}
    answers = [table(data, about["same answers on photographs"], "{:.0%}") for data, about in found.items()]
    return "\n\n".join([table("data", errors, "{:.1e}"), *answers])


def page(text: str, found: Mapping[str, Any]) -> str:
    """The text of docs/light.md with the tables between its marks made anew."""
    return text[: text.index(BEGIN)] + BEGIN + "\n" + tables(found) + "\n\n" + text[text.index(END) :]


def protocol() -> dict[str, object]:
    return {"angles": ANGLES, "gains": GAINS, "images": IMAGES, "levels": LEVELS, "crops of a photograph": CROPS}


def networks(runs: Runs, data: str, row: str, seeds: Sequence[int]) -> Iterator[tuple[Network, Callable[[], Tensor]]]:
    """The trained network of each seed, and what makes pictures of its unshifted test set."""
    name = f"{data}_{row}"
    for record in runs.get([name], seeds)[name]:
        network, module = trained_network(record)
        yield network, partial(_pictures, module, DATA[data])


def _pictures(module: Any, test: str) -> Tensor:
    return held_out_images(module, test, IMAGES)[0]


def equivariance(network: Network, rgb: Tensor) -> dict[str, float]:
    """The largest error of the features: at all steps and between them on angles, and under gains through images."""
    lifting, low, high = network.lifting, *LEVELS
    moved = interpolated(lifting.group)
    between, gains = [(angle,) * 3 for angle in ANGLES], [lifting.steps(gain) for gain in GAINS]  # type: ignore[operator]
    held = network_error(network, low + (high - low) * rgb, protocol="image", elements=gains, act_output=moved)
    with points(network, FINE):
        fine = network_error(network, rgb, elements=between, act_output=moved).worst
    return {
        "angles, steps": network_error(network, rgb).worst,
        "angles, between": network_error(network, rgb, elements=between, act_output=moved).worst,
        f"with {FINE} points": fine,
        "images, nothing cut off": held.worst,
        "pixels cut off there": max(held.sheet_changes.values()),
        "images as they are": network_error(network, rgb, protocol="image", elements=gains, act_output=moved).worst,
    }


@contextmanager
def points(network: Network, number: int) -> Iterator[None]:
    """Every activation of the network at so many points a sample; its weights are the same."""
    activations = [module for module in network.modules() if isinstance(module, GroupActivation)]
    trained = [activation.points for activation in activations]
    try:
        for activation in activations:
            activation.points = number
        yield
    finally:
        for activation, own in zip(activations, trained, strict=True):
            activation.points = own


def staying(network: Network) -> dict[str, float]:
    """By change of light, the share of crops of photographs on which the answer stays what it is without the change."""
    assert network.image_size is not None
    crops = photographs(network.image_size)
    with torch.no_grad():
        answers = network(crops).argmax(1)
    shares = {}
    for number, (name, change) in enumerate(light_shifts().items()):
        lit = torch.stack([change(crop, generator(number, at)) for at, crop in enumerate(crops)])
        shares[name] = 1 - error_rates(network, lit, answers, [lambda rgb: rgb])[0]
    return shares


def photographs(size: int) -> Tensor:
    """`(B, 3, size, size)`: crops of the photographs that scikit-learn and matplotlib ship, at a quarter of their resolution."""
    from matplotlib import cbook
    from PIL import Image
    from sklearn.datasets import load_sample_images

    shots = [*load_sample_images().images, cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)]
    rng, crops = generator(0), []
    for shot in shots:
        image = Image.open(shot).convert("RGB") if isinstance(shot, str) else Image.fromarray(shot)
        small = image.resize((image.width // 4, image.height // 4), Image.Resampling.BOX)
        rgb = torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8).view(small.height, small.width, 3).permute(2, 0, 1)
        for _ in range(CROPS):
            top, left = (int(torch.randint(side - size + 1, (), generator=rng)) for side in rgb.shape[1:])
            crops.append(rgb[:, top : top + size, left : left + size].float() / 255)
    return torch.stack(crops)


def combined(how: Callable[[list[float]], float], found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Numbers of several seeds made one, each by itself."""
    return {name: how([one[name] for one in found]) for name in found[0]}


def table(corner: str, rows: Mapping[str, Mapping[str, float]], form: str) -> str:
    head = next(iter(rows.values()))
    names = [HEADS.get(name, name.replace("_", " ")) for name in head]
    lines = [f"| {corner} | " + " | ".join(names) + " |", "|---" + "|---:" * len(head) + "|"]
    return "\n".join(
        [*lines, *(f"| {name} | " + " | ".join(map(form.format, row.values())) + " |" for name, row in rows.items())]
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except FileNotFoundError as absent:
        sys.exit(str(absent))
