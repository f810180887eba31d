"""What training steps cost on GPUs, for docs/gpu.md: by the roofline and, where scripts/gpu_check.py was adopted, as measured.

python scripts/predict_gpu.py              print it
python scripts/predict_gpu.py --write      put it into docs/gpu.md, between its marks
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from t3cen.analysis.roofline import GPUS, Gpu, Work, named, training_step
from t3cen.models import build

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, CHECKS = DOCS / "gpu.md", DOCS / "gpu"
BEGIN, MEASURED, END = "<!-- predict_gpu.py -->", "<!-- measured -->", "<!-- end -->"
WAYS = {"by matrices": "matmul", "one by one": "separate"}
ROWS = [("", "plain", "auto"), *((g, "t3cen", b) for g in ("h4", "h4s4", "h4s4l4") for b in ("fourier", "direct"))]
ROWS += [
    ("h4s3", "lcer", "fourier"),
    ("h4", "ceconv", "fourier"),
    *((g, "t3cen", f"fourier, {way}") for g in ("h4", "h4s4l4") for way in WAYS),
]
COLUMNS = ["network", "precision", "predicted ms", "measured ms", "measured / predicted"]
COLUMNS += ["predicted / plain", "measured / plain", "memory / plain"]
NOT_YET = "No GPU has been measured.\n"


def name_of(group: str, family: str = "t3cen", backend: str = "", **more: Any) -> str:
    """A network as the tables call it."""
    prefix = {"lcer": "LCER-", "ceconv": "CEConv-"}.get(family, "")
    words = [prefix + group.upper() if group else "plain", backend if group else "", "compiled" if more.get("compile") else ""]
    return " ".join(filter(None, words))


def kinds() -> list[tuple[str, str]]:
    """Device and precision of each column; one where a device does not compute faster in TF32."""
    return [(name, kind) for name, gpu in GPUS.items() for kind in ("float32", "tf32")[: 1 + (gpu.tf32 > gpu.float32)]]


def row(backbone: str, group: str, family: str, backend: str, plain: Work | None) -> tuple[str, Work]:
    backend, _, way = backend.partition(", ")
    network = build(backbone, group, 10, family=family, backend=backend)
    work = training_step(network, 16, 96, WAYS.get(way, "convolution"))
    cells = [name_of(group, family, way or backend), _short(work.bytes / 1e9), f"{work.flops / 1e12:.2f}", str(work.launches)]
    for device, kind in kinds():
        seconds = work.seconds(GPUS[device], kind)
        over = "" if plain is None else f" ({seconds / plain.seconds(GPUS[device], kind):.1f}x)"
        cells.append(_short(seconds * 1e3) + over)
    return "| " + " | ".join(cells) + " |", work


def _short(number: float) -> str:
    return f"{number:.{0 if number >= 100 else 1}f}"


def table() -> str:
    names = [f"{device} {'TF32' if kind == 'tf32' else kind}" for device, kind in kinds()]
    lines = []
    for backbone in ("resnet18", "resnet50"):
        lines += [
            f"| {backbone} | GB | TFLOP | launches | " + " | ".join(names) + " |",
            "|---" + "|---:" * (3 + len(names)) + "|",
        ]
        plain = None
        for options in ROWS:
            line, work = row(backbone, *options, plain)
            plain = plain or work
            lines.append(line)
        lines.append("")
    return "\n".join(lines)


def beside(found: Mapping[str, Any], gpu: Gpu | None = None) -> str:
    """The networks of one check, each measured time beside its prediction: of eager operations, in float32 and TF32."""
    gpu = gpu or named(found["device"])
    size, works = found["size"], dict[str, Work]()
    lines = [
        f"{found['device']}, commit {found['commit'][:10]}, {found['finished'][:10]}.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    plain: dict[tuple[str, str], float] = {}
    for row in found["networks"]:
        options = {key: row[key] for key in ("group", "family", "backend", "compile") if key in row}
        start = [f"{row['backbone']} {name_of(**options)}", row["precision"]]
        if "failed" in row:
            lines.append(f"| {' | '.join(start)} | | {row['failed']} | | | | |")
            continue
        expected = None
        if gpu is not None and not row.get("compile") and row["precision"] != "bf16":
            key = json.dumps([row["backbone"], options])
            if key not in works:
                network = build(row["backbone"], row["group"], 10, width=size.get("width"), **_arguments(options))
                works[key] = training_step(network, size["batch_size"], size["image_size"])
            expected = works[key].seconds(gpu, row["precision"])
            plain.setdefault((row["backbone"], row["precision"]), expected)
        got = 1 / row["iterations_per_second"]
        over = expected and expected / plain[row["backbone"], row["precision"]]
        memory = row.get("memory_over_plain")
        numbers = [_number(expected, 1e3), _number(got, 1e3), _number(expected and got / expected), _number(over)]
        lines.append(f"| {' | '.join([*start, *numbers, _number(row['time_over_plain']), _number(memory)])} |")
    if found["left_out"]:
        lines += ["", f"No time was left for {len(found['left_out'])} more."]
    return "\n".join(lines) + "\n"


def _arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key in ("family", "backend")}


def _number(value: float | None, times: float = 1.0) -> str:
    return "" if value is None else f"{value * times:.{1 if times > 1 else 2}f}"


def page(text: str, predicted: str, folder: Path = CHECKS) -> str:
    """The text of docs/gpu.md with its generated parts made anew."""
    checks = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[!.]*.json"))]
    shown = "\n".join(beside(found) for found in checks) or NOT_YET
    head, tail = text[: text.index(BEGIN)], text[text.index(END) :]
    return f"{head}{BEGIN}\n\n{predicted}\n## Measured\n{MEASURED}\n\n{shown}\n{tail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="into docs/gpu.md")
    if parser.parse_args().write:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")
        return
    sys.stdout.write(table())


if __name__ == "__main__":
    main()
