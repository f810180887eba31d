"""A name in Hydra for every run of every table: `experiment=<data>_<row>`, and `sweep=<table>`.

Every distinct (data set, row) of conf/table/*.yaml is one `Run`, trained once however many cells read it.
Only Hydra and YAML are imported here, so that `train.py --help` starts at once.
"""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from t3cen.tables.schema import TABLE_DIR, Column, Row, Table, get_table, nearest, tables


@dataclass(frozen=True)
class Run:
    """One trained network: a data set, the way colour enters (`model`), an augmentation and further settings."""

    name: str
    data: str
    model: str
    group: str | None = None
    augment: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def node(self) -> dict[str, Any]:
        """What `experiment=<name>` contributes to the composed configuration (package `_global_`)."""
        defaults: list[Any] = [{"override /data": self.data}, {"override /model": self.model}]
        if self.augment:
            defaults.append({"override /augment": self.augment})
        node = OmegaConf.create({"defaults": [*defaults, "_self_"], "name": self.name})
        for key, value in self.changes.items():
            OmegaConf.update(node, key, value, force_add=True)
        return OmegaConf.to_container(node)  # type: ignore[return-value]

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


@cache
def register(directory: Path = TABLE_DIR) -> None:
    """Give Hydra one `experiment=<run>` per run and one `sweep=<table>` per trained table, once per process."""
    store = ConfigStore.instance()
    # Hydra copies the whole store each time it composes, which takes longer than composing, and only reads the copy.
    setattr(store, "__deepcopy__", lambda memo: store)  # noqa: B010 (a method of the instance is what copy looks for)
    for run in all_runs(directory).values():
        store.store(group="experiment", name=run.name, node=run.node, package="_global_")
    for table in trained_tables(directory):
        experiments = ",".join(run.name for run in runs_of(table))
        params = {"experiment": experiments, "seed": ",".join(map(str, table.seeds))}
        node = {"hydra": {"mode": "MULTIRUN", "sweeper": {"params": params}}}
        store.store(group="sweep", name=table.name, node=node, package="_global_")


def check_overrides(overrides: Iterable[str]) -> None:
    """Raise ValueError for `experiment=` or `sweep=` values that do not exist, naming the nearest ones that do."""
    known = {"experiment": list(all_runs()), "sweep": [table.name for table in trained_tables()]}
    for override in overrides:
        key, _, value = override.lstrip("+").partition("=")
        if "(" in value:  # Hydra's own: glob(mnist_*), choice(...)
            continue
        for name in value.split(",") if key in known else ():
            if name not in (*known[key], "", "null"):
                raise ValueError(f"no {key} {name!r}{nearest(name, known[key])}; python train.py --help lists them all")


def help_footer(width: int = 100) -> str:
    """Every table with its experiments, for `train.py --help`: `data_{row, row}` in place of each name in full."""
    lines = ["Tables (sweep=<table>) and their experiments (experiment=<data>_<row>):"]
    for table in trained_tables():
        where: dict[str, list[str]] = {}
        for _, row, column, _ in table.cells():
            if not row.same_as:
                where.setdefault(row.name, []).append(column.key)
        rows: dict[str, list[str]] = {}
        for name, data in where.items():
            rows.setdefault(_braces(data), []).append(name)
        lines.append(f"  {table.name} - {table.title}")
        names = " ".join(f"{data}_{_braces(group)}" for data, group in rows.items())
        lines += textwrap.wrap(names, width, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)


def _braces(names: Iterable[str]) -> str:
    names = list(dict.fromkeys(names))
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
