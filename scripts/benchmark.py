"""Time, memory and arithmetic of networks (discrete, continuous, light), inference, layers, lifting, data, startup; ratios too.

python scripts/benchmark.py networks                           ResNet18, batch 8, 32x32: plain, direct, Fourier
python scripts/benchmark.py networks --network resnet50 --size 96 --batch 16 --skip direct
python scripts/benchmark.py continuous --groups h5 l5          band-limited networks beside the discrete ones
python scripts/benchmark.py light                              networks equivariant to light beside the plain one (docs/light.md)
python scripts/benchmark.py inference --batch 1                the same in evaluation, and with norms and filters folded
python scripts/benchmark.py networks --json outputs/benchmark.json
python scripts/benchmark.py networks --compare outputs/benchmark.json
python scripts/benchmark.py layers lifting data startup

The work floor is the fewest products along the group that any algorithm needs, the map floor the activations, both over plain.
Every round times each variant once, so that whatever else the machine does meets all of them alike; medians are shown.
"""

import argparse
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from benchmark_cases import SUITES, Case, Options, peak_memory, run_child
from rich.console import Console
from rich.table import Table

from t3cen.training.allocator import keep_freed_memory

console = Console(width=None if sys.stdout.isatty() else 140)
SLOW = 20
Row = dict[str, object]


def measure(cases: list[Case], rounds: int, threads: int) -> dict[str, list[float]]:
    """Seconds of every round of every case, interleaved; slow cases take part in fewer rounds.

    `Timer.timeit` calls twice before it times a call. What takes longer than `SLOW` seconds is timed only that once.
    """
    # Timer's module looks for a CUDA toolkit that is not used here, and warns where there is one but no GPU.
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
    from torch.utils.benchmark import Timer

    timers, seconds, most = {}, {}, {}
    for case in cases:
        timers[case.name] = Timer("call()", globals={"call": case.make()}, num_threads=threads)
        first = timers[case.name].timeit(1).median
        most[case.name] = min(rounds, round(SLOW / first))
        seconds[case.name] = [] if most[case.name] else [first]
    for turn in range(rounds):
        for name, timer in timers.items():
            if turn < most[name]:
                seconds[name].append(timer.timeit(1).median)
    return seconds


def rows(suite: str, options: Options, rounds: int, threads: int, memory: bool) -> list[Row]:
    """One row for each case: median, spread, ratios within its group of cases, memory and arithmetic."""
    found: list[Row] = []
    for cases in SUITES[suite](options):
        seconds = measure(cases, rounds, threads)
        for case in cases:
            median = statistics.median(seconds[case.name])
            row: Row = {"suite": suite, "case": case.name, "seconds": median, "least": min(seconds[case.name])}
            row["rounds"] = len(seconds[case.name])
            if case.items:
                row["per_second"] = case.items / median
            if memory and case.network:
                row["peak_bytes"] = peak_memory(case, options, threads)
            row |= case.facts
            found.append(row)
    by_name = {row["case"]: row for row in found}
    for cases in SUITES[suite](options):
        for case in cases:
            for kind, other in (("plain", case.plain), ("direct", case.direct), ("discrete", case.discrete)):
                reference = by_name.get(other)
                if reference:
                    by_name[case.name][f"over_{kind}"] = by_name[case.name]["seconds"] / reference["seconds"]
                    if "peak_bytes" in reference and "peak_bytes" in by_name[case.name]:
                        by_name[case.name][f"memory_over_{kind}"] = by_name[case.name]["peak_bytes"] / reference["peak_bytes"]
    return found


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "seconds": ("median", duration),
    "least": ("least", duration),
    "rounds": ("n", str),
    "per_second": ("per second", lambda v: f"{v:,.0f}"),
    "over_plain": ("/ plain", lambda v: f"{v:.2f}x"),
    "over_direct": ("/ direct", lambda v: f"{v:.3f}x"),
    "over_discrete": ("/ discrete", lambda v: f"{v:.2f}x"),
    "peak_bytes": ("peak memory", lambda v: f"{v / 2**20:,.0f} MiB"),
    "memory_over_plain": ("mem / plain", lambda v: f"{v:.2f}x"),
    "memory_over_direct": ("mem / direct", lambda v: f"{v:.3f}x"),
    "memory_over_discrete": ("mem / discrete", lambda v: f"{v:.2f}x"),
    "macs": ("MACs", lambda v: f"{v / 1e6:,.0f} M"),
    "parameters": ("parameters", lambda v: f"{v:,}"),
    "arithmetic_floor": ("work floor", lambda v: f"{v:.2f}x"),
    "traffic_floor": ("map floor", lambda v: f"{v:.2f}x"),
    "imports": ("modules", str),
    "change": ("/ other", lambda v: f"{v:.2f}x"),
}


def show(suite: str, found: list[Row]) -> None:
    used = {key: column for key, column in COLUMNS.items() if any(key in row for row in found)}
    table = Table(title=suite, title_justify="left")
    table.add_column("case", no_wrap=True)
    for title, _ in used.values():
        table.add_column(title, justify="right")
    for row in found:
        table.add_row(str(row["case"]), *(form(row[key]) if key in row else "-" for key, (_, form) in used.items()))
    console.print(table)


def machine(threads: int) -> dict[str, object]:
    """What the numbers were measured on."""
    info = Path("/proc/cpuinfo")
    names = (
        [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=Path(__file__).parent)
    return {
        "cpu": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": threads,
        "simd": torch.backends.cpu.get_cpu_capability(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "commit": commit.stdout.strip() or None,
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="suite", help=", ".join(SUITES))
    parser.add_argument("--network", default="resnet18")
    parser.add_argument("--size", type=int, default=32, help="images of SIZE x SIZE")
    parser.add_argument("--width", type=int, default=64, help="layers: channels of the first stage, in the plain network")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--groups", nargs="+", default=["h4", "h4s4", "h4s4l4"])
    parser.add_argument(
        "--skip", nargs="+", default=[], metavar="WORD", help="leave out cases whose name has this word, e.g. direct"
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--no-memory", action="store_true", help="do not start the processes that measure peak memory")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--compare", type=Path, help="rows of an earlier run to compare with")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    unknown = set(args.suites) - set(SUITES)
    if unknown:
        parser.error(f"unknown suite {', '.join(sorted(unknown))}; known: {', '.join(SUITES)}")
    return args


def main() -> None:
    try:
        run(arguments())
    except (ValueError, OSError) as problem:
        sys.exit(f"benchmark: {problem}")


def run(args: argparse.Namespace) -> None:
    """Everything the command line asks for."""
    keep_freed_memory()  # as training does
    options = Options(args.network, args.size, args.width, args.batch, tuple(args.groups), tuple(args.skip), args.device)
    if args.child:
        sys.stdout.write(str(run_child(args.child, options, args.threads)))
        return
    earlier = {}
    if args.compare:
        earlier = {(row["suite"], row["case"]): row for row in json.loads(args.compare.read_text())["rows"]}
    where = machine(args.threads)
    console.print("  ".join(f"{key} {value}" for key, value in where.items() if value is not None), highlight=False)
    found: list[Row] = []
    for suite in args.suites or SUITES:
        fresh = rows(suite, options, args.rounds, args.threads, not args.no_memory)
        for row in fresh:
            old = earlier.get((suite, row["case"]))
            if old:
                row["change"] = row["seconds"] / old["seconds"]
        show(suite, fresh)
        found += fresh
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({"machine": where, "command": sys.argv[1:], "rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
