"""What is done, running, failed or missing of a table, and how long the rest takes.

t3cen status                        every table in a line
t3cen status hue_shift              cell by cell, with the reason of every failure
t3cen status camelyon17 --measure   time a few steps of every network on this machine's device first
t3cen status --plan --device L40    the whole bill before anything is started; an estimate where nothing was timed there
t3cen status --plan --device L40 --price 1.2    in money too, at that price of an hour of one device
"""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table as RichTable

from t3cen.commands import enter, parser_of
from t3cen.experiments import Run, all_runs, run_of, runs_of, trained_tables
from t3cen.experiments.schema import Table, get_table
from t3cen.progress import Terminal
from t3cen.results.plan import STEP_TIMES, Clock, step_times
from t3cen.results.records import Results, load, printable
from t3cen.results.states import State, state_of
from t3cen.training.files import write_json

COLORS = {"done": "green", "running": "cyan", "stale": "yellow", "failed": "red", "unfinished": "yellow", "missing": "dim"}
console = Terminal(width=None if sys.stdout.isatty() else 140)
States = dict[tuple[str, int], State]


def collect(outputs: Path, scale: str, chosen: Iterable[Table]) -> States:
    """The state of every seed of every run of the tables; runs that tables share are looked at once."""
    states: States = {}
    for table in chosen:
        for run in runs_of(table):
            for seed in table.seeds:
                if (run.name, seed) not in states:
                    states[run.name, seed] = state_of(outputs, scale, run.name, seed)
    return states


def cell(states: list[State], total: int | None) -> str:
    """`2/3`, and what the others are doing."""
    counts = Counter(state.kind for state in states)
    parts = [f"[{COLORS['done' if counts['done'] == len(states) else 'missing']}]{counts['done']}/{len(states)}[/]"]
    for kind in ("running", "stale", "failed", "unfinished"):
        if counts[kind]:
            steps = max(state.steps for state in states if state.kind == kind)
            progress = f" {min(steps / total, 1):.0%}" if kind in ("running", "unfinished") and total else ""
            parts.append(f"[{COLORS[kind]}]{counts[kind]} {kind}{progress}[/]")
    return " ".join(parts)


def print_table(table: Table, states: States, clock: Clock) -> None:
    """One table, network by data set, and the reason of every seed that is not done although it ended."""
    for section in table.sections:
        columns = list({column.key: column for column in section.columns}.values())
        grid = RichTable(
            title=escape(" - ".join(filter(None, (f"{table.name}: {table.title}", section.title)))), title_justify="left"
        )
        grid.add_column("network")
        for column in columns:
            grid.add_column(column.key)
        for row in section.rows:
            source = section.row(row.same_as) if row.same_as else row
            runs = [run_of(source, column) for column in columns]
            label = f"{row.label} (as {source.label})" if row.same_as else row.label
            grid.add_row(label, *(cell([states[r.name, s] for s in table.seeds], clock.total_steps(r, all_runs())) for r in runs))
        console.print(grid)
    for run in runs_of(table):
        for seed in table.seeds:
            if (state := states[run.name, seed]).reason:
                console.print(f"[{COLORS[state.kind]}]{state.kind}[/] {run.name} seed {seed}: {escape(printable(state.reason))}")


def hours_left(names: Iterable[tuple[str, int]], states: States, clock: Clock, *, whole: bool) -> tuple[float, int]:
    """Hours that the seeds still take (or, `whole`, take from nothing), and of how many that cannot be told."""
    runs, hours, unknown = all_runs(), 0.0, 0
    for name, seed in names:
        state = states[name, seed]
        if state.kind == "done" and not whole:
            continue
        left = clock.hours(runs[name], 0 if whole or state.kind == "stale" else state.steps, runs)
        hours, unknown = (hours, unknown + 1) if left is None else (hours + left, unknown)
    return hours, unknown


def by_table(chosen: list[Table], states: States) -> list[tuple[str, set[tuple[str, int]]]]:
    """The seeds of each table and, last, of all of them, in which a run that tables share counts once."""
    lines = [(table.name, {(run.name, seed) for run in runs_of(table) for seed in table.seeds}) for table in chosen]
    return [*lines, ("all, shared runs once", set(states))]


def told(hours: float, unknown: int, count: int, price: float | None = None) -> str:
    """Hours, or what they cost, and how many of `count` runs are not in them."""
    if unknown == count:
        return "?"
    return f"{hours if price is None else hours * price:,.1f}" + (f" + {unknown} runs never timed" if unknown else "")


def print_summary(chosen: list[Table], states: States, clock: Clock, price: float | None) -> None:
    """One line a table: how many of its runs are done, and how long the others take."""
    grid = RichTable(title=f"scale {clock.scale}", title_justify="left")
    kinds = ("running", "failed", "unfinished", "stale", "missing")
    for name in ("table", "done", *kinds, "hours left", *(["cost"] if price else [])):
        grid.add_column(name, justify="left" if name == "table" else "right")
    for title, names in by_table(chosen, states):
        counts = Counter(states[name].kind for name in names)
        hours, unknown = hours_left(sorted(names), states, clock, whole=False)
        costs = [told(hours, unknown, len(names), price)] if price else []
        cells = (f"{counts['done']}/{len(names)}", *(str(counts[kind]) for kind in kinds), told(hours, unknown, len(names)))
        grid.add_row(title, *cells, *costs)
    console.print(grid)
    print_sources(clock)


def print_plan(chosen: list[Table], states: States, clocks: Mapping[str, Clock], price: float | None) -> None:
    """One line a table: how long all of it takes from nothing, with each backend of the convolutions, and what that costs."""
    first = clocks["auto"]
    if first.floor is not None:  # the same again is kept; this takes a second or two a network
        runs = {run.name: run for table in chosen for run in runs_of(table)}
        for run in track(list(runs.values()), description="counting operations", console=Console(stderr=True), transient=True):
            for clock in clocks.values():
                clock.step_seconds(run, all_runs())
    grid = RichTable(title=f"scale {first.scale}, from nothing", title_justify="left")
    for name in ("table", "runs", *(f"hours, {name}" for name in clocks), *(f"cost, {name}" for name in clocks if price)):
        grid.add_column(name, justify="left" if name == "table" else "right")
    for title, names in by_table(chosen, states):
        found = [hours_left(sorted(names), states, clock, whole=True) for clock in clocks.values()]
        hours = [told(*each, len(names)) for each in found]
        grid.add_row(title, str(len(names)), *hours, *(told(*each, len(names), price) for each in found if price))
    console.print(grid)
    print_sources(first)


def print_sources(clock: Clock) -> None:
    """Where the hours come from."""
    known = ", ".join(clock.devices) or "none"
    mixed = " Several devices, mixed; --device picks one." if len(clock.devices) > 1 else ""
    console.print(f"Step times from: {escape(known)}.{mixed}")
    if clock.estimated:
        console.print(
            f"Estimated, never timed: {len(clock.estimated)} networks. Their hours are by the roofline of docs/gpu.md, in "
            "float32. `fourier` and `direct` are estimates throughout. `t3cen status --measure` on the device replaces `auto`'s."
        )
    elif not clock.devices:
        console.print(
            "Time a few steps of each network on the device you will use: t3cen status [TABLE] --measure. "
            "Before that, --plan --device NAME is an estimate for a GPU of docs/gpu.md, such as L40."
        )


def measure(runs: Iterable[Run], scale: str, outputs: Path) -> None:
    """Time training steps of each run on random images on this machine's device, and keep them beside the results."""
    import torch

    from t3cen.experiments.composition import compose
    from t3cen.training.provenance import device_name
    from t3cen.training.step_time import step_seconds

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    times = step_times(outputs)
    kept = times.setdefault(device_name(device), {}).setdefault(scale, {})
    for run in track(list(runs), description=f"timing on {device}", console=Console(stderr=True)):
        kept[run.name] = step_seconds(compose(run, scale), device)
        (outputs / STEP_TIMES).parent.mkdir(parents=True, exist_ok=True)
        write_json(outputs / STEP_TIMES, times)


def main(arguments: list[str]) -> int:
    parser = parser_of("status", __doc__)
    parser.add_argument("table", nargs="?", help="a trained table of conf/table; without one, a line for each")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of the results (default: outputs)")
    parser.add_argument("--scale", default="paper", help="paper (default), laptop or smoke")
    parser.add_argument("--device", help="part of the name of the device whose step times count")
    parser.add_argument("--plan", action="store_true", help="hours from nothing, not what is left")
    parser.add_argument("--measure", action="store_true", help="first time a few steps of every network here")
    parser.add_argument("--price", type=float, help="of an hour of one device, in any currency; adds columns of costs")
    options = parser.parse_args(arguments)
    try:
        chosen = [get_table(options.table)] if options.table else trained_tables()
        if chosen[0].kind != "trained":
            raise ValueError(f"table {options.table!r} is {chosen[0].kind}, not trained; nothing of it runs")
        if options.price is not None and not 0 < options.price < math.inf:
            raise ValueError(f"--price must be above 0, got {options.price}")
    except ValueError as error:
        console.print(f"t3cen status: {escape(str(error))}")
        return 2
    if options.measure:
        runs = {run.name: run for table in chosen for run in runs_of(table)}
        measure(runs.values(), options.scale, options.outputs)
    clocks = {"auto": Clock(options.scale, options.device)}
    if options.plan and options.device:
        from t3cen.analysis.roofline import roofline_seconds  # torch takes seconds to start

        if (floor := roofline_seconds(options.device)) is not None:
            clocks |= {backend: Clock(options.scale, options.device) for backend in ("fourier", "direct")}
            for backend, clock in clocks.items():
                clock.floor = partial(floor, backend)
    results = load(options.outputs) if options.outputs.is_dir() else Results((), ())
    clocks["auto"].learn(results.records)
    for device, scales in step_times(options.outputs).items():
        for name, seconds in scales.get(options.scale, {}).items():
            clocks["auto"].add(device, name, seconds)
    states = collect(options.outputs, options.scale, chosen)
    if options.table and not options.plan:
        print_table(chosen[0], states, clocks["auto"])
    if options.plan:
        print_plan(chosen, states, clocks, options.price)
    else:
        print_summary(chosen, states, clocks["auto"], options.price)
    shown = {state.folder for state in states.values()} if options.table and not options.plan else set()
    for item in results.refused:
        if item.path.parent not in shown:
            console.print(f"[red]refused[/] {escape(str(item))}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    enter("status", main)
