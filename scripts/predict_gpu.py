"""What training steps would cost on GPUs, by the roofline: the table of docs/gpu.md.

python scripts/predict_gpu.py              print it
python scripts/predict_gpu.py --write      put it into docs/gpu.md, between its two marks
"""

import argparse
import sys
from pathlib import Path

from t3cen.analysis.roofline import GPUS, Work, training_step
from t3cen.models import build

PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
BEGIN, END = "<!-- predict_gpu.py -->", "<!-- end -->"
ROWS = [("", "plain", "auto"), *((g, "t3cen", b) for g in ("h4", "h4s4", "h4s4l4") for b in ("fourier", "direct"))]
ROWS += [("h4s3", "lcer", "fourier"), ("h4", "ceconv", "fourier"), ("h4", "t3cen", "fourier by matrices")]


def row(backbone: str, group: str, family: str, backend: str, plain: Work | None) -> tuple[str, Work]:
    products = "matmul" if "matrices" in backend else "convolution"
    network = build(backbone, group, 10, family=family, backend=backend.split()[0])
    work = training_step(network, 16, 96, products)
    name = {"plain": "plain", "lcer": "LCER-", "ceconv": "CEConv-"}.get(family, "") + group.upper()
    cells = [f"{name} {backend}" if group else name, f"{work.bytes / 1e9:.1f}", f"{work.flops / 1e12:.2f}", str(work.launches)]
    for device in GPUS.values():
        for precision in ("float32", "tf32"):
            seconds = work.seconds(device, precision)
            over = "" if plain is None else f" ({seconds / plain.seconds(device, precision):.1f}x)"
            cells.append(f"{seconds * 1e3:.1f}{over}")
    return "| " + " | ".join(cells) + " |", work


def table() -> str:
    kinds = [f"{name} {precision}" for name in GPUS for precision in ("float32", "TF32")]
    lines = []
    for backbone in ("resnet18", "resnet50"):
        lines += [f"| {backbone} | GB | TFLOP | launches | " + " | ".join(kinds) + " |", "|---" * (4 + len(kinds)) + "|"]
        plain = None
        for options in ROWS:
            line, work = row(backbone, *options, plain)
            plain = plain or work
            lines.append(line)
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="into docs/gpu.md")
    made = table()
    if not parser.parse_args().write:
        sys.stdout.write(made)
        return
    text = PAGE.read_text()
    PAGE.write_text(text[: text.index(BEGIN)] + f"{BEGIN}\n\n{made}\n" + text[text.index(END) :])


if __name__ == "__main__":
    main()
