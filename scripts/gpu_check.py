"""What a GPU does with this project, in at most five minutes: right or wrong, how fast, where the time goes.

python scripts/gpu_check.py                               all of it, to outputs/gpu_check.json
python scripts/gpu_check.py --device cpu --toy            the same on a processor, with networks of toy size
python scripts/gpu_check.py --adopt outputs/gpu_check.json   let backend=auto follow what was measured, and docs show it

The file is whole or absent. What there was no time for is listed in it under `left_out`.
"""

import argparse
import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from t3cen.analysis.training_cost import Setting, measure_here, seconds_of
from t3cen.figures.training_cost import LCER_GROUPS
from t3cen.groups import ColorGroup
from t3cen.models import build
from t3cen.nn import GroupConv2d
from t3cen.ops import devices
from t3cen.results import measured
from t3cen.testing import network_error
from t3cen.training.files import write_json
from t3cen.training.provenance import code_version, device_name, library_versions

KEPT = Path(__file__).resolve().parents[1] / "docs" / "gpu"
GROUPS = ("h4", "s4", "l4", "h4s4", "h4l4", "h4s4l4")
ODD = {group: column for column, group in LCER_GROUPS.items()}
"""Groups that LCER has, and their columns of `training_cost`."""
NETWORKS: list[dict[str, Any]] = [
    {"group": "", "family": "plain"},
    *({"group": group, "backend": "fourier"} for group in GROUPS),
    *({"group": group, "family": "lcer", "backend": "fourier"} for group in ODD),
    {"group": "h4", "family": "ceconv", "backend": "fourier"},
    *({"group": group, "backend": "fourier", "compile": True} for group in ("", *GROUPS)),
    *({"group": group, "backend": "direct"} for group in GROUPS),
]
SIZES: dict[bool, dict[str, Any]] = {
    False: {"image_size": 96, "batch_size": 16},
    True: {"image_size": 16, "batch_size": 2, "width": 16},
}
"""Of the networks' inputs, and their width where it is not the published one; of a check of toy size, where True."""
TOYS = 1 + len(GROUPS) + len(ODD) + 1
"""So many of them, none of which is compiled, are what a check of toy size tries."""
PRECISIONS = ("tf32", "float32", "bf16")
LAYERS = [(group, width, 32 * 64 // width) for group in ("h4", "h8", "h4s4", "h4s4l4") for width in (8, 16, 32, 64, 128, 256)]


class Minutes:
    """What is left of the time that was given."""

    def __init__(self, minutes: float) -> None:
        self.end = time.monotonic() + 60 * minutes
        self.left_out: list[str] = []

    def allow(self, name: str) -> bool:
        """Whether there is time for `name`; it is noted where there is none."""
        if time.monotonic() < self.end:
            return True
        self.left_out.append(name)
        return False


def checks(device: torch.device) -> dict[str, float]:
    """Errors of whole networks on the device.

    Raises:
        RuntimeError: one that is larger than rounding.
    """
    rgb = torch.rand(2, 3, 28, 28, generator=torch.Generator().manual_seed(0)).to(device)
    found, logits = {}, {}
    for backend in ("fourier", "direct"):
        torch.manual_seed(0)
        network = build("z2cnn", "h4s4", 4, backend=backend, width=32).to(device).eval()
        found[f"equivariance, {backend}"] = network_error(network, rgb).worst
        with torch.no_grad():
            logits[backend] = network(rgb).double()
    found["fourier beside direct"] = float((logits["fourier"] - logits["direct"]).abs().max() / logits["direct"].abs().max())
    wrong = {name: error for name, error in found.items() if not error < 1e-2}
    if wrong:
        raise RuntimeError(f"{device_name(device)} computes something else: {wrong}; at most 1e-2 expected")
    return found


def networks(device: torch.device, toy: bool, minutes: Minutes) -> Iterator[dict[str, Any]]:
    """Time and memory of training steps, over the plain network's of the same backbone and precision."""
    size = {**SIZES[toy], **({"dropped": 1, "averaged": 1} if toy else {"dropped": 5, "averaged": 100})}
    for precision in PRECISIONS:
        for backbone in ("resnet18", "resnet50"):
            plain: dict[str, Any] = {}
            for options in NETWORKS[:TOYS] if toy else NETWORKS:
                setting = Setting(backbone=backbone, precision=precision, device=str(device), seconds=0.5, **size, **options)
                if options.get("compile") and backbone != "resnet18":
                    continue  # a minute each
                name = f"{backbone} {precision} {json.dumps(options)}"
                if not minutes.allow(name):
                    continue
                try:
                    got = measure_here(setting)
                except RuntimeError as error:
                    yield {"backbone": backbone, "precision": precision, **options, "failed": str(error).splitlines()[0]}
                    continue
                plain = plain or got
                over = {"time_over_plain": plain["iterations_per_second"] / got["iterations_per_second"]}
                if device.type == "cuda":  # a processor's peak is that of everything the process did so far
                    over["memory_over_plain"] = got["memory_mib"] / plain["memory_mib"]
                yield {"backbone": backbone, "precision": precision, **options, **got, **over}


def layers(device: torch.device, toy: bool, minutes: Minutes) -> Iterator[dict[str, Any]]:
    """Seconds of a 3x3 layer, forward and backward: directly, and in the Fourier domain with either kind of products."""
    for name, width, side in LAYERS[:2] if toy else LAYERS:
        if not minutes.allow(f"layer {name} {width}"):
            continue
        group = ColorGroup.parse(name)
        channels = max(1, int(width / math.sqrt(group.order)))
        x = torch.randn(8, group.order, channels, min(side, 32), min(side, 32), device=device, requires_grad=True)
        row: dict[str, Any] = {"group": name, "order": group.order, "channels": channels, "side": x.shape[-1]}
        for kind in ("direct", *devices.PRODUCTS):
            layer = GroupConv2d(channels, channels, 3, group, padding=1, backend="direct" if kind == "direct" else "fourier").to(
                device
            )
            inputs = [x, *layer.parameters()]
            call = lambda layer=layer, inputs=inputs: torch.autograd.grad(layer(inputs[0]).sum(), inputs)  # noqa: E731
            with devices.taken_for(devices.Measured(1, kind if kind in devices.PRODUCTS else "convolution")):
                row[kind] = seconds_of(call, 1 if toy else 20, device)
        yield row


def crossover(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The kind of products that is faster over all layers, and the width from which it loses least time against direct."""
    products = min(devices.PRODUCTS, key=lambda kind: sum(math.log(row[kind]) for row in rows))
    widths = sorted({row["order"] * row["channels"] for row in rows})

    def lost(least: float) -> float:
        chosen = (row[products] if row["order"] * row["channels"] >= least else row["direct"] for row in rows)
        return sum(math.log(seconds) for seconds in chosen)

    return {"least_width": min([*widths, 2 * widths[-1]], key=lost), "products": products}


def profile(device: torch.device, toy: bool) -> list[dict[str, Any]]:
    """The ten operations that take most of a step of ResNet18-H4S4."""
    network = build("resnet18", "h4s4", 10, width=16 if toy else None).to(device)
    rgb = torch.rand(*((2, 3, 16, 16) if toy else (16, 3, 96, 96)), device=device)
    step: Callable[[], None] = lambda: network(rgb).square().mean().backward()  # noqa: E731
    step()
    kinds = [torch.profiler.ProfilerActivity.CPU]
    on_gpu = device.type == "cuda"
    with torch.profiler.profile(activities=[*kinds, *([torch.profiler.ProfilerActivity.CUDA] if on_gpu else [])]) as seen:
        step()
    key = "self_device_time_total" if on_gpu else "self_cpu_time_total"
    top = sorted(seen.key_averages(), key=lambda event: getattr(event, key), reverse=True)[:10]
    return [{"operation": event.key, "milliseconds": getattr(event, key) / 1e3, "calls": event.count} for event in top]


def cells(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Those of the table `training_cost`: PyTorch's default precision, whose convolutions take TF32."""
    found = {}
    for row in rows:
        if (row["backbone"], row["precision"]) != ("resnet18", "tf32") or "failed" in row or row.get("compile"):
            continue
        if row.get("backend") == "direct":
            continue
        for place in places(row["group"], row.get("family", "t3cen")):
            found[f"memory/{place}"] = row["memory_mib"]
            found[f"speed/{place}"] = row["iterations_per_second"]
    return found


def places(group: str, family: str) -> list[str]:
    """Rows and columns of `training_cost` where a network belongs; the plain one is every family's of order 1."""
    if family == "plain":
        return [f"{row}/h1" for row in ("t3cen", "lcer", "ceconv")]
    if family == "lcer":
        return [f"{'lcer' if ODD[group] == group else 'lcer_odd'}/{ODD[group]}"]
    return [f"{family}/{group}"]


def check(device: torch.device, toy: bool, minutes: Minutes, output: Path) -> None:
    start = time.monotonic()
    found: dict[str, Any] = {
        "schema": 1,
        "device": device_name(device),
        "kind": devices.kind(device),
        "toy": toy,
        "size": SIZES[toy],
    }
    found |= {"command": sys.argv[1:], **code_version(), "versions": library_versions(), "checks": checks(device)}
    found["layers"] = list(layers(device, toy, minutes))
    found["crossover"] = crossover(found["layers"]) if found["layers"] else None
    found["profile"] = profile(device, toy)
    found["networks"] = list(networks(device, toy, minutes))
    found |= {"left_out": minutes.left_out, "seconds": time.monotonic() - start}
    found["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
    output.parent.mkdir(parents=True, exist_ok=True)
    write_json(output, found)
    if not toy and (of_table := cells(found["networks"])):
        origin = {"device": found["device"], "commit": found["commit"], "command": "scripts/gpu_check.py"}
        measured.write(output.parent, "training_cost", of_table, origin, name="gpu_check")


def adopt(path: Path) -> None:
    """Put the crossover of a finished check into the file that `backend=auto` reads, and the check where docs are made from."""
    found = json.loads(path.read_text())
    if found["toy"]:
        raise ValueError(f"{path} is of toy size, which says nothing of real layers; run the check without --toy")
    if found["crossover"] is None:
        raise ValueError(f"{path} had no time for layers, so it knows no crossover; give the check more --minutes")
    known = json.loads(devices.FILE.read_text())
    known[found["kind"]] = found["crossover"]
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(facts)}" for name, facts in known.items())
    devices.FILE.write_text(f"{{\n{lines}\n}}\n")
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{found['kind'].replace(' ', '_')}.json"
    shutil.copyfile(path, kept)
    sys.stdout.write(
        f"{devices.FILE.name} and {kept} know {found['kind']}; now: python scripts/predict_gpu.py --write; "
        "python scripts/performance_page.py\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--toy", action="store_true", help="networks of toy size, to try the script")
    parser.add_argument("--minutes", type=float, default=4.5, help="after which nothing more is begun")
    parser.add_argument("--output", type=Path, default=Path("outputs", "gpu_check.json"))
    parser.add_argument("--adopt", type=Path, metavar="FILE", help="of an earlier check")
    options = parser.parse_args()
    if options.adopt:
        adopt(options.adopt)
        return
    if options.device != "cpu" and not torch.cuda.is_available():
        parser.error("torch finds no GPU here; --device cpu --toy tries the script without one")
    check(torch.device(options.device), options.toy, Minutes(options.minutes), options.output)


if __name__ == "__main__":
    main()
