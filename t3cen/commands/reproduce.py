"""Make a table of docs/results again from nothing, and print it beside the committed one.

t3cen reproduce kutomadata             trains the table's runs at scale laptop; what is done is kept, the same command goes on
t3cen reproduce equivariance_error     measures, where the table is measured
t3cen reproduce hue_shift --outputs DIR --scale paper

Status 0 if every committed cell is reproduced within its printed spread.
"""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from t3cen.commands import enter, parser_of
from t3cen.experiments.schema import Table, get_table
from t3cen.project import PROJECT
from t3cen.results.cells import Cells
from t3cen.results.records import load
from t3cen.tables.build import build
from t3cen.tables.printed import PrintedCell
from t3cen.training.job import environment

COMMITTED = PROJECT / "docs" / "results"
HALF_DIGIT = 0.005
"""Percent; a printed number stands for what rounds to it."""
RELATIVE = 0.05
"""Of a measured number, which has no spread: what processors differ in."""
OF_THE_MACHINE = {"it/s", "MiB"}
"""Units of what every machine has its own number of: printed side by side, and not judged."""


def main(arguments: list[str]) -> int:
    parser = parser_of("reproduce", __doc__)
    parser.add_argument("table", help="a table of conf/table")
    parser.add_argument("--scale", default="laptop", help="laptop (default), paper or smoke")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="where the results go (default: outputs)")
    options = parser.parse_args(arguments)
    try:
        table = get_table(options.table)
        commands = list(commands_of(table, options.scale, options.outputs))
    except ValueError as error:
        sys.stderr.write(f"t3cen reproduce: {error}\n")
        return 2
    for command in commands:
        print(f"$ t3cen {shlex.join(command)}", flush=True)
        status = run(command)
        if status:
            return status
    lines = list(compared(table, options.scale, options.outputs))
    print("\n".join(["| | | committed | here | |", "|---|---|---:|---:|---|", *(f"| {' | '.join(line)} |" for line in lines)]))
    return 1 if any(line[-1].startswith("outside") for line in lines) else 0


def run(command: list[str]) -> int:
    """Run `t3cen COMMAND` in a process of its own, its output where progress goes; one thread a process without a GPU."""
    name, *rest = command
    threads = {} if torch.cuda.is_available() else {"OMP_NUM_THREADS": "1"}
    module = [sys.executable, "-m", f"t3cen.commands.{name}", *rest]
    return subprocess.run(module, env={**environment(), **threads}, stdout=sys.stderr.fileno(), check=False).returncode


def commands_of(table: Table, scale: str, outputs: Path) -> Iterator[list[str]]:
    """What makes a table, as arguments of `t3cen`.

    Raises:
        ValueError: the table holds settings, or nothing says what measures it.
    """
    if table.kind == "trained":
        yield ["train", f"sweep={table.name}", f"scale={scale}", "launcher=joblib", "num_workers=0", f"outputs={outputs}"]
        return
    if not table.made_by:
        raise ValueError(f"table {table.name!r} is {table.kind}, and its file names no command in `made_by`; nothing to run")
    for line in table.made_by:
        yield shlex.split(line.format(outputs=shlex.quote(str(outputs))))


def compared(table: Table, scale: str, outputs: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Row, column, committed, here and verdict of every cell that is committed or here."""
    committed, here = (build(table, Cells(load(folder), scale), folder) for folder in (COMMITTED, outputs))
    for section, theirs, ours in zip(table.sections, committed.sections, here.sections, strict=True):
        for row, again in zip(theirs.rows, ours.rows, strict=True):
            for column, old, new in zip(theirs.columns, row.cells, again.cells, strict=True):
                if old.ours or new.ours:
                    label = f"{row.label}, {theirs.title}" if theirs.title else row.label
                    yield (
                        label,
                        column,
                        f"{old.value} {old.count}".strip(),
                        f"{new.value} {new.count}".strip(),
                        _verdict(old, new, judged=section.unit not in OF_THE_MACHINE),
                    )


def _verdict(old: PrintedCell, new: PrintedCell, *, judged: bool = True) -> str:
    if old.ours is None:
        return "not committed"
    if new.ours is None:
        return "outside: not made here"
    if old.ours.mean == new.ours.mean:
        return "the same"
    if not judged:
        return "of this machine"
    spread = RELATIVE * abs(old.ours.mean) if old.ours.sd is None else old.ours.sd + HALF_DIGIT
    return "within" if abs(new.ours.mean - old.ours.mean) <= spread else "outside its spread"


if __name__ == "__main__":
    enter("reproduce", main)
