"""Publish the result tables of one scale as one Weights & Biases run: tables, charts, the printed pages, and plots.

    t3cen publish                       offline, into outputs/wandb; `t3cen sync` sends it later
    t3cen publish --online --scale laptop
    t3cen publish hue_shift             one table only

Plots are the curves between the steps and the cost of training, of the figures in outputs/figures. Unchanged
results are not published again. The run of a scale has a fixed id, so publishing anew goes on with it. Nothing waits longer
than --timeout, and nothing of this changes a result.
"""

import argparse
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from matplotlib.figure import Figure

from t3cen.commands import enter, parser_of
from t3cen.experiments.schema import get_table, tables
from t3cen.figures.plots import Plot, plots
from t3cen.project import command
from t3cen.results.cells import Cells
from t3cen.results.records import load
from t3cen.tables import html, spreadsheet
from t3cen.tables.build import build
from t3cen.tables.printed import PrintedTable
from t3cen.training.files import read_json, write_json
from t3cen.training.job import environment

STAMP = "published.json"
COMMAND = (sys.executable, "-m", "t3cen.commands.publish")


def filled(printed: PrintedTable) -> bool:
    """Whether a table holds a number of ours."""
    return any(cell.ours for section in printed.sections for row in section.rows for cell in row.cells)


def _tables(printed: list[PrintedTable]) -> str:
    return "1 table" if len(printed) == 1 else f"{len(printed)} tables"


def digest(printed: list[PrintedTable], drawn: list[Plot]) -> str:
    """What would be published, as one string: equal results have equal digests."""
    return hashlib.sha256("".join([*map(html.render, printed), *map(repr, drawn)]).encode()).hexdigest()


def publish(
    printed: list[PrintedTable],
    drawn: list[Plot],
    scale: str,
    outputs: Path,
    project: str,
    entity: str | None,
    mode: Literal["online", "offline"],
) -> None:
    """Log every table in this process; may hang, so it is called in a process that can be killed."""
    import matplotlib.pyplot  # noqa: F401 (wandb compares figures with it)
    import wandb

    settings = wandb.Settings(silent=True, console="off", init_timeout=60, x_disable_stats=True)
    run = wandb.init(
        project=project, entity=entity,
        id=f"{project}-results-{scale}", name=f"results, scale {scale}", job_type="results", group="results",
        tags=[scale, *(table.name for table in printed)], resume="allow", dir=outputs, mode=mode, settings=settings,
        config={"scale": scale, "tables": {table.name: list(table.provenance) for table in printed}},
    )  # fmt: skip
    content = {_key("plots", *plot.name.split("/"), *part): made for plot in drawn for part, made in _plots(plot)}
    for table in printed:
        lines = list(spreadsheet.lines(table))
        content[f"tables/{table.name}"] = _wandb_table(lines)
        content[f"pages/{table.name}"] = wandb.Html(html.page([table], table.title), inject=False)
        for column in dict.fromkeys((line[1], line[3]) for line in lines):
            rows = [dict(zip(spreadsheet.HEADER, line, strict=True)) for line in lines if (line[1], line[3]) == column]
            if any(row["mean"] is not None for row in rows):
                title = " - ".join(str(part) for part in (table.title, *column) if part)
                content[_key("charts", table.name, *column)] = wandb.Image(chart(rows, title))
        verdicts = [line[-2] for line in lines if line[-2] is not None]
        run.summary[f"{table.name}/cells_that_agree"] = sum(map(bool, verdicts))
        run.summary[f"{table.name}/cells_compared"] = len(verdicts)
    run.log(content)
    run.finish()


def chart(rows: list[dict[str, Any]], title: str) -> Figure:
    """Bars of our means with the standard deviation over seeds, and the paper's values as diamonds beside them."""
    figure = Figure(figsize=(6, 0.8 + 0.4 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        if row["mean"] is not None:
            axes.barh(place, row["mean"], height=0.55, color="tab:blue", xerr=row["sd"], capsize=3)
        if row["paper_mean"] is not None:
            axes.errorbar(row["paper_mean"], place, xerr=row["paper_sd"], fmt="D", color="black", markersize=4, capsize=3)
    axes.set_yticks(range(len(rows)), [str(row["row"]) for row in rows])
    axes.invert_yaxis()
    axes.set_title(f"{title}\nbars: ours, with the sd over seeds; diamonds: the paper", fontsize="small", loc="left")
    return figure


def _key(*parts: object) -> str:
    """A key of wandb, which takes spaces badly: the parts that say something, separated by slashes."""
    return "/".join(re.sub(r"\W+", "_", str(part)).strip("_") for part in parts if part)


def _plots(plot: Plot) -> Iterator[tuple[tuple[str, ...], object]]:
    """A plot of wandb's own: all curves in one, or a bar chart for each series."""
    import wandb

    if not any(isinstance(place, str) for place in plot.places):
        xs = [list(plot.places)] * len(plot.series)
        yield (), wandb.plot.line_series(xs, list(plot.series.values()), list(plot.series), title=plot.title, xname=plot.x)
        return
    for label, values in plot.series.items():
        rows = [[place, value] for place, value in zip(plot.places, values, strict=True) if value is not None]
        if rows:
            table = wandb.Table(columns=[plot.x, plot.y], data=rows)
            yield (label,), wandb.plot.bar(table, plot.x, plot.y, title=f"{label}: {plot.title}")


def _wandb_table(lines: list[tuple[spreadsheet.Value, ...]]) -> object:
    import wandb

    data = [[int(value) if isinstance(value, bool) else value for value in line] for line in lines]
    return wandb.Table(columns=list(spreadsheet.HEADER), data=data, allow_mixed_types=True)


def in_time(arguments: list[str], seconds: float) -> int:
    """Run this command's --here in a process group of its own; when the time is over, all of it is killed."""
    child = subprocess.Popen([*COMMAND, *arguments, "--here"], env=environment(), start_new_session=True)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        sys.stderr.write(
            f"t3cen publish: not done in {seconds:.0f} s, stopped; results are untouched, try again or publish offline\n"
        )
        return 1


def main(arguments: list[str]) -> int:
    parser = parser_of("publish", __doc__)
    parser.add_argument("table", nargs="?", default="all", help="a table of conf/table, or all that have results (default)")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of the results (default: outputs)")
    parser.add_argument("--scale", default="paper", help="paper (default), laptop or smoke")
    parser.add_argument("--project", default="t3cen")
    parser.add_argument("--entity", help="user or team of Weights & Biases (default: your own)")
    parser.add_argument("--online", action="store_true", help="send it now instead of writing it for `t3cen sync`")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that wandb may take (default: 300)")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    mode: Literal["online", "offline"] = "online" if options.online else "offline"
    try:
        chosen = list(tables().values()) if options.table == "all" else [get_table(options.table)]
        results = load(options.outputs)
    except (ValueError, FileNotFoundError) as error:
        sys.stderr.write(f"t3cen publish: {error}\n")
        return 2
    cells = Cells(results, options.scale)
    printed = [table for declared in chosen if filled(table := build(declared, cells, options.outputs, results.refused))]
    drawn = list(plots(options.outputs / "figures"))
    if options.here:
        publish(printed, drawn, options.scale, options.outputs, options.project, options.entity, mode)
        return 0
    if not printed and not drawn:
        print(f"no results at scale {options.scale} to publish")
        return 0
    stamp = options.outputs / "wandb" / STAMP
    stamps = read_json(stamp)
    key, content = f"{options.project}/{options.scale}/{options.table}/{mode}", digest(printed, drawn)
    if stamps.get(key) == content:
        print(f"{_tables(printed)}, published before and unchanged")
        return 0
    stamp.parent.mkdir(parents=True, exist_ok=True)
    status = in_time(arguments, options.timeout)
    if status == 0:
        write_json(stamp, {**stamps, key: content})
        later = f"; send it with: {command('sync')} {shlex.quote(str(stamp.parent))}"
        plotted = f" and {len(drawn)} plots" if drawn else ""
        print(f"{_tables(printed)}{plotted} published {mode}" + ("" if options.online else later))
    return status


if __name__ == "__main__":
    enter("publish", main)
