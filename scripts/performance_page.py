"""The measured part of docs/performance.md and the costs in README.md, from docs/performance/*.json and docs/gpu/*.json.

python scripts/benchmark.py networks --json docs/performance/resnet18.json     measures, and writes one of these files
python scripts/gpu_check.py --adopt outputs/gpu_check.json                     puts a GPU's there
python scripts/performance_page.py                                             writes the tables of all of them into the pages
"""

import json
from pathlib import Path
from typing import Any

from benchmark import COLUMNS
from predict_gpu import CHECKS, NOT_YET, name_of

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARK = "<!-- measured -->\n"
COSTS = "<!-- costs -->\n"
LEFT_OUT = {"rounds", "arithmetic_floor", "traffic_floor", "imports"}


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The rows of one suite as a Markdown table, columns that none of them has left out."""
    used = {key: column for key, column in COLUMNS.items() if key not in LEFT_OUT and any(key in row for row in rows)}
    lines = ["| | " + " | ".join(title for title, _ in used.values()) + " |", "|---|" + "---|" * len(used)]
    for row in rows:
        cells = (form(row[key]) if key in row else "" for key, (_, form) in used.items())
        lines.append(f"| {row['case']} | " + " | ".join(cells) + " |")
    return lines


def section(found: dict[str, Any]) -> str:
    """One file: its command, its machine, a table for each of its suites."""
    where = found["machine"]
    words = [word for word in found["command"] if word != "--json" and not word.endswith(".json")]
    lines = [f"`python scripts/benchmark.py {' '.join(words)}`", ""]
    gpu = f", {where['gpu']}" if where["gpu"] else ""
    lines += [
        f"{where['cpu']}{gpu}, {where['threads']} threads, {where['simd']}; PyTorch {where['torch']}; commit {where['commit']}.",
        "",
    ]
    for suite in dict.fromkeys(row["suite"] for row in found["rows"]):
        lines += [*table([row for row in found["rows"] if row["suite"] == suite]), ""]
    return "\n".join(lines)


def gpu_section(found: dict[str, Any]) -> str:
    """One check of a GPU: steps of networks, layers by backend, and where the time of a step goes."""
    size = found["size"]
    lines = [f"`python scripts/gpu_check.py {' '.join(found['command'])}`".replace(" `", "`"), ""]
    lines += [f"{found['device']}; PyTorch {found['versions']['torch']}; commit {found['commit'][:10]}.", ""]
    precisions = list(dict.fromkeys(row["precision"] for row in found["networks"]))
    lines += [
        f"Steps of {size['batch_size']} images of {size['image_size']}x{size['image_size']}: milliseconds (over plain).",
        "",
    ]
    lines += ["| | " + " | ".join(precisions) + " | memory / plain |", "|---" * (len(precisions) + 2) + "|"]
    by_name: dict[str, dict[str, dict[str, Any]]] = {}
    for row in found["networks"]:
        name = name_of(**{key: row[key] for key in ("group", "family", "backend", "compile") if key in row})
        by_name.setdefault(f"{row['backbone']} {name}", {})[row["precision"]] = row
    for name, rows in by_name.items():
        memory = next((f"{row['memory_over_plain']:.2f}x" for row in rows.values() if "memory_over_plain" in row), "")
        lines.append(f"| {name} | " + " | ".join(_time(rows.get(precision)) for precision in precisions) + f" | {memory} |")
    if found["layers"]:
        chosen = found["crossover"]
        rule = f"Fourier by {chosen['products']} from a width of {chosen['least_width']:.0f} on"
        lines += [
            "",
            f"A 3x3 layer, forward and backward: milliseconds. `backend=auto` takes {rule}, below that the expanded bank.",
        ]
        lines += [
            "",
            "| group | channels | side | direct | Fourier, in groups | one by one | by matrices |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row['group'].upper()} | {row['channels']} | {row['side']} | "
            + " | ".join(f"{row[kind] * 1e3:.2f}" for kind in ("direct", "convolution", "separate", "matmul"))
            + " |"
            for row in found["layers"]
        ]
    lines += ["", "Where a step of ResNet18-H4S4 spends its time.", "", "| operation | milliseconds | calls |", "|---|---|---|"]
    lines += [f"| `{row['operation']}` | {row['milliseconds']:.2f} | {row['calls']} |" for row in found["profile"]]
    return "\n".join(lines) + "\n"


def _time(row: dict[str, Any] | None) -> str:
    if row is None or "failed" in row:
        return "" if row is None else row["failed"]
    return f"{1e3 / row['iterations_per_second']:.1f} ({row['time_over_plain']:.2f}x)"


def page(text: str, folder: Path = DOCS / "performance", checks: Path = CHECKS) -> str:
    """The text of the page with what is behind the mark made anew."""
    sections = [section(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("[!.]*.json"))]
    gpus = [gpu_section(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(checks.glob("[!.]*.json"))]
    return text.partition(MARK)[0] + MARK + "\n" + "\n".join([*sections, "## On GPUs", *(gpus or [NOT_YET])])


def front(text: str, folder: Path = DOCS / "performance") -> str:
    """The text of README.md with the table behind its mark made anew: four networks, each against the plain one."""
    found = [json.loads((folder / name).read_text(encoding="utf-8")) for name in ("resnet18.json", "resnet18-one-image.json")]
    training, inference = ({row["case"]: row for row in part["rows"]} for part in found)
    lines = ["| network | training, time | training, memory | one image, time |", "|---|---|---|---|"]
    lines.append("| plain | 1.00x | 1.00x | 1.00x |")
    for group in ("h4", "h4s4", "h4s4l4"):
        step, image = training[f"{group} fourier"], inference[f"{group} fourier, folded"]
        ratios = (step["over_plain"], step["memory_over_plain"], image["over_plain"])
        lines.append(f"| {group.upper()} | " + " | ".join(f"{ratio:.2f}x" for ratio in ratios) + " |")
    before, mark, behind = text.partition(COSTS)
    return before + mark + "\n" + "\n".join(lines) + "\n\n" + behind.lstrip("\n").partition("\n\n")[2]


if __name__ == "__main__":
    for target, made in ((DOCS / "performance.md", page), (DOCS.parent / "README.md", front)):
        target.write_text(made(target.read_text(encoding="utf-8")), encoding="utf-8")
