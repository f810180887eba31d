"""Start from a trained plain network: fine-tune it, and its colour-equivariant twin with its weights, for equal time.

python scripts/fine_tune.py RUN --images photos --group h4

RUN was trained with data=folder model=plain backbone=torchvision/NAME, or timm/NAME.
Time is that of the processor on one thread, which other work on the machine does not lengthen; loading images counts.
A call that is interrupted goes on where it was. It writes fine_tuned.json, and twin.pt, the weights
of the first seed's twin, and prints a table.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import t3cen
from t3cen.analysis import shift_report
from t3cen.augment import ColorJitter
from t3cen.data import Folder
from t3cen.models.network import Network
from t3cen.training.cost import parameters
from t3cen.training.files import write_json
from t3cen.training.provenance import code_version, library_versions

HUES = {"hue": tuple(k / 12 for k in range(-5, 7))}
"""Shifts of hue that are tried, in turns: every 30 degrees."""
RATE = 3e-4
COLUMNS = {"unshifted": "as trained", "mean": "hue shifted, mean", "worst": "hue shifted, worst", "test": "test images"}


def tune(network: nn.Module, data: Folder, seconds: float) -> tuple[int, float]:
    """Adam and cross-entropy for so many seconds of processor time; how many images it took, and the time.

    The learning rate falls to zero as a cosine of the time used.
    """
    optimizer, began, seen, spent = torch.optim.Adam(network.parameters(), lr=RATE), time.process_time(), 0, 0.0
    network.train()
    for images, labels in _forever(data):
        optimizer.param_groups[0]["lr"] = RATE * (1 + math.cos(math.pi * spent / seconds)) / 2
        optimizer.zero_grad()
        F.cross_entropy(network(images), labels).backward()
        optimizer.step()
        seen, spent = seen + len(images), time.process_time() - began
        if spent >= seconds:
            break
    network.eval()
    return seen, spent


def _forever(data: Folder) -> Iterator[tuple[Tensor, Tensor]]:
    loader = data.train_dataloader()
    for _ in count():
        yield from loader


def accuracy(network: Callable[[Tensor], Tensor], data: Folder) -> dict[str, float]:
    """Shares of right answers: on validation images as they are and with hues shifted, and on the test images."""
    [held] = data.val_dataloader()
    images, labels = (torch.cat(parts) for parts in zip(*held, strict=True))
    report = shift_report(network, images, labels, amounts=HUES)
    with torch.no_grad():
        right = torch.cat([network(images).argmax(1) == labels for images, labels in data.test_dataloader()[0]])
    found = {"unshifted": report.unshifted, "mean": report.mean("hue"), "worst": report.worst("hue")[1]}
    return {**found, "test": right.double().mean().item()}


def twin(network: Any, group: str) -> Network:
    """The colour-equivariant twin of a plain network of another library, with its weights."""
    normalize = {name: getattr(network.normalize, name).flatten().tolist() for name in ("mean", "std")}
    return t3cen.convert(network.body, group, match="width", **normalize)


@dataclass(frozen=True)
class Comparison:
    """What is compared: the run, the folder it was trained on, the group, seconds of processor time, where to write."""

    run: Path
    images: Path
    group: str
    seconds: float
    output: Path

    def starts(self) -> dict[str, tuple[Network, dict[str, Any]]]:
        """By name, networks to fine-tune, and what is special about their images.

        Raises:
            ValueError: the run's network is not one of another library, without a group.
        """
        plain: Any = t3cen.load(self.run)
        if not hasattr(plain, "body") or plain.lifting.group.order > 1:
            raise ValueError(
                f"{self.run} is no plain network of torchvision or timm; train one with model=plain backbone=torchvision/NAME"
            )
        made = twin(plain, self.group)
        made.image_size = plain.image_size
        names = ("original", "original, any hue", f"twin on {self.group.upper()}")
        return dict(zip(names, ((plain, {}), (plain, {"augmentation": ColorJitter(hue=0.5)}), (made, {})), strict=True))

    def data(self, network: Network, seed: int, **options: Any) -> Folder:
        return Folder(root=self.images, image_size=network.image_size, batch_size=32, seed=seed, **options)

    def row(self, name: str, seed: int | None, keep: bool = False) -> dict[str, Any]:
        """The row of one network, fine-tuned unless it has no seed. It stays in a file, which another call takes it from."""
        file = self.output / "rows" / f"{self.group} {self.seconds:g} {name} {seed}.json"
        if file.exists():
            return json.loads(file.read_text(encoding="utf-8"))
        torch.set_num_threads(1)
        network, options = self.starts()[name]
        seen, spent = 0, 0.0
        if seed is not None:
            torch.manual_seed(seed)
            seen, spent = tune(network, self.data(network, seed, **options), self.seconds)
        if keep:
            torch.save(network.state_dict(), self.output / "twin.pt")
        row = {"network": name, "seed": seed, "parameters": parameters(network), "images": seen, "seconds": spent}
        row |= accuracy(network.eval(), self.data(network, 0))
        file.parent.mkdir(exist_ok=True)
        write_json(file, row)
        return row


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as Markdown, percent: mean and sample standard deviation of each network's seeds."""
    columns = ["network", "fine-tuned", "parameters", *COLUMNS.values()]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for name, tuned in dict.fromkeys((row["network"], row["seed"] is not None) for row in rows):
        same = [row for row in rows if (row["network"], row["seed"] is not None) == (name, tuned)]
        images = mean(row["images"] for row in same)
        cells = [name, f"on {images:,.0f} images" if tuned else "no", f"{same[0]['parameters'] / 1e6:.1f} M"]
        cells += [_percent([row[column] for row in same]) for column in COLUMNS]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _percent(shares: Sequence[float]) -> str:
    return f"{100 * mean(shares):.1f}" + (f" ({100 * stdev(shares):.1f})" if len(shares) > 1 else "")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a finished run")
    parser.add_argument("--images", type=Path, required=True, help="the folder it was trained on")
    parser.add_argument("--group", default="h4", help="of the twin (default: h4)")
    parser.add_argument("--seconds", type=float, default=90, help="of processor time for each fine-tuning (default: 90)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="(default: 0 1 2)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fine-tunings at a time (default: one a core)")
    parser.add_argument("--output", type=Path, default=Path("outputs/fine_tuned"), help="folder of what is written")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    options.output.mkdir(parents=True, exist_ok=True)
    comparison = Comparison(options.run, options.images, options.group, options.seconds, options.output)
    starts = comparison.starts()
    tasks = [(name, None, False) for name, (_, special) in starts.items() if not special]
    tasks += [(name, seed, (name, seed) == (list(starts)[-1], options.seeds[0])) for seed in options.seeds for name in starts]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        rows = list(pool.map(comparison.row, *zip(*tasks, strict=True)))
    about = {"seconds": options.seconds, "group": options.group, "versions": library_versions(), **code_version()}
    (options.output / "fine_tuned.json").write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
