"""The names of experiments and sweeps on the command line: `experiment=<data>_<row>`, and `sweep=<table>`."""

import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hydra.core.config_store import ConfigStore

from t3cen.experiments.content import register_resolvers
from t3cen.experiments.runs import all_runs, runs_of, trained_tables
from t3cen.experiments.schema import TABLE_DIR


@cache
def register(directory: Path = TABLE_DIR) -> None:
    """Give Hydra one `experiment=<run>` per run and one `sweep=<table>` per trained table, once per process.

    What configurations compute of folders (`content.py`) is made known too.
    """
    register_resolvers()
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
