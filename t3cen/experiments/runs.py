"""The runs behind the tables: every distinct (data set, row) of conf/table/*.yaml is one, however many cells read it."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from t3cen.experiments.schema import TABLE_DIR, Column, Row, Table, get_table, tables


@dataclass(frozen=True)
class Run:
    """One trained network: a data set, the way colour enters (`model`), an augmentation and further settings."""

    name: str
    data: str
    model: str
    group: str | None = None
    augment: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.name)  # settings have no hash; two runs of one name are rare

    @property
    def node(self) -> dict[str, Any]:
        """What `experiment=<name>` contributes to the composed configuration (package `_global_`)."""
        defaults: list[Any] = [{"override /data": self.data}, {"override /model": self.model}]
        if self.augment:
            defaults.append({"override /augment": self.augment})
        node: dict[str, Any] = {"defaults": [*defaults, "_self_"], "name": self.name}
        for key, value in self.changes.items():
            *parents, last = key.split(".")
            place = node
            for parent in parents:
                place = place.setdefault(parent, {})
            place[last] = deepcopy(value)
        return node

    @property
    def changes(self) -> dict[str, Any]:
        """Settings by dotted key, the group included."""
        return {**({"model.group": self.group} if self.group else {}), **self.settings}


def run_of(row: Row, column: Column) -> Run:
    """The run behind the cell of `row` in `column`."""
    settings = {**column.set, **row.set}
    return Run(f"{column.key}_{row.name}", column.data, row.model, row.group, row.augment, settings)


def trained_tables(directory: Path = TABLE_DIR) -> list[Table]:
    """The tables whose cells are trained networks; the others are measured or read from the configuration."""
    return [table for table in tables(directory).values() if table.kind == "trained"]


def runs_of(table: Table | str) -> list[Run]:
    """The distinct runs that fill a table, in printed order; none for a table that is not trained."""
    table = get_table(table) if isinstance(table, str) else table
    cells = table.cells() if table.kind == "trained" else ()
    runs = [run_of(row, column) for _, row, column, _ in cells if not row.same_as]
    return list({run.name: run for run in runs}.values())


@cache
def all_runs(directory: Path = TABLE_DIR) -> dict[str, Run]:
    """Every run of every table by name, those listed twice under two names included.

    Raises:
        ValueError: two rows give one name to different settings.
    """
    runs: dict[str, Run] = {}
    origin: dict[str, str] = {}
    for table in trained_tables(directory):
        for _, row, column, _ in table.cells():
            run = run_of(row, column)
            if runs.setdefault(run.name, run) != run:
                raise ValueError(f"{table.name}: experiment {run.name!r} is {run}, but {origin[run.name]} has {runs[run.name]}")
            origin.setdefault(run.name, table.name)
    return runs
