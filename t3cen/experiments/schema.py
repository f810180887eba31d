"""What a table file, conf/table/<name>.yaml, may say: rows x columns, in sections where the paper has them.

A row is a network, a column a data set and one of its test sets. `docs/results.md` describes the keys.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from t3cen.project import conf_dir

TABLE_DIR = conf_dir() / "table"
METRICS = ("error", "accuracy")
KINDS = ("trained", "measured", "settings")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Column:
    """One printed column. `test` is a test set of `data`; `prefix` replaces `data` in run names where `set` changes the data."""

    label: str
    data: str = ""
    test: str = ""
    prefix: str = ""
    name: str = ""
    metric: str = ""
    quantity: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.name or self.prefix or self.data


@dataclass(frozen=True)
class Row:
    """One printed row. `published` holds one cell a column as the paper prints it, `**best**` and `_second best_` marked."""

    name: str
    label: str
    model: str = ""
    group: str | None = None
    augment: str | None = None
    parameters: str | None = None
    same_as: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)
    published: tuple[str | None, ...] = ()


@dataclass(frozen=True)
class Section:
    """Rows under one heading; a section has the table's columns unless it names its own."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    name: str = ""
    unit: str = ""

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)


@dataclass(frozen=True)
class Table:
    """One table of the paper, or one of our own (`source: own`). `made_by` are the commands that measure one."""

    name: str
    title: str
    source: str
    caption: str
    sections: tuple[Section, ...]
    kind: str = "trained"
    metric: str = "error"
    seeds: tuple[int, ...] = ()
    published_n: int = 3
    unit: str = ""
    transposed: bool = False
    notes: tuple[str, ...] = ()
    made_by: tuple[str, ...] = ()

    def cells(self) -> Iterator[tuple[Section, Row, Column, str | None]]:
        """Every cell with what the paper prints in it, or None."""
        for section in self.sections:
            for row in section.rows:
                for index, column in enumerate(section.columns):
                    yield section, row, column, row.published[index] if row.published else None


def _build(cls: type[_T], entry: Any, where: str, **given: Any) -> _T:
    """`cls(**entry)`, with an error that says which key of which file is wrong."""
    entry = _mapping(entry, where)
    if "set" in entry:
        entry = {**entry, "set": _number(entry["set"])}
    known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
    for key in entry:
        if key not in known:
            raise ValueError(f"{where}: unknown key {key!r}{nearest(str(key), known)} (allowed: {', '.join(sorted(known))})")
    values = {**entry, **given}
    needed = [f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING]  # type: ignore[arg-type]
    if missing := [name for name in needed if name not in values]:
        raise ValueError(f"{where}: {' and '.join(map(repr, missing))} missing")
    return cls(**values)


def _listed(entry: Any, key: str, where: str) -> list[Any]:
    """What `entry` holds under `key`, which is a list."""
    found = _mapping(entry, where).get(key, [])
    if not isinstance(found, list):
        raise ValueError(f"{where}: {key} must be a list, got {found!r}")
    return found


def _mapping(entry: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise ValueError(f"{where}: a mapping expected, got {entry!r}")
    return entry


def parse(name: str, text: str) -> Table:
    """A table from its YAML text.

    Raises:
        ValueError: unknown or missing keys, a row without one published cell a column, a name used twice, a wrong metric.
    """
    where = f"conf/table/{name}.yaml"
    try:
        raw = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ValueError(f"{where} is no YAML: {' '.join(str(error).split())}") from error
    shared = _listed(raw, "columns", where)
    entries = _listed(raw, "sections", where) or [{"title": "", "rows": _listed(raw, "rows", where)}]
    sections = tuple(_section(entry, shared, where) for entry in entries)
    head = {key: value for key, value in raw.items() if key not in ("columns", "rows", "sections")}
    lists = {key: tuple(_listed(raw, key, where)) for key in ("seeds", "notes", "made_by")}
    table = _build(Table, head, where, name=name, sections=sections, **lists)
    _check(table, where)
    return table


def _section(entry: Any, shared: list[Any], where: str) -> Section:
    rows = tuple(_row(row, where) for row in _listed(entry, "rows", f"{where}: section"))
    own = _listed(entry, "columns", f"{where}: section") if "columns" in entry else shared
    given = {"test": entry["test"]} if entry.get("test") else {}
    columns = tuple(_build(Column, column, f"{where}: column", **given) for column in own)
    left = {key: value for key, value in entry.items() if key not in ("columns", "rows", "test")}
    return _build(Section, left, f"{where}: section", columns=columns, rows=rows)


def _row(entry: Any, where: str) -> Row:
    where = f"{where}: row {_mapping(entry, f'{where}: row').get('name')!r}"
    return _build(Row, entry, where, published=tuple(_listed(entry, "published", where)))


def _number(value: Any) -> Any:
    """YAML 1.1 takes `3e-3` for a text, and the command line takes it for a number."""
    if isinstance(value, Mapping):
        return {key: _number(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_number(item) for item in value]
    return float(value) if isinstance(value, str) and _FLOAT.fullmatch(value) else value


def _check(table: Table, where: str) -> None:
    if table.kind not in KINDS:
        raise ValueError(f"{where}: kind {table.kind!r} is none of {', '.join(KINDS)}")
    if table.kind == "trained" and not table.seeds:
        raise ValueError(f"{where}: a trained table needs seeds")
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in table.seeds):
        raise ValueError(f"{where}: seeds are whole numbers, got {', '.join(map(repr, table.seeds))}")
    if len(set(table.seeds)) != len(table.seeds):
        raise ValueError(f"{where}: a seed is listed twice in {', '.join(map(str, table.seeds))}")
    for section in table.sections:
        if not section.rows or not section.columns:
            raise ValueError(f"{where}: section {section.title!r} has no rows or no columns")
        names = [row.name for row in section.rows]
        for row in section.rows:
            if names.count(row.name) > 1:
                raise ValueError(f"{where}: row {row.name!r} is listed {names.count(row.name)} times")
            if row.published and len(row.published) != len(section.columns):
                raise ValueError(
                    f"{where}: row {row.name!r} has {len(row.published)} published cells, {len(section.columns)} columns expected"
                )
            if row.same_as and row.same_as not in names:
                raise ValueError(f"{where}: row {row.name!r} is the same as {row.same_as!r}, which is no row of the section")
            if table.kind == "trained" and not row.model:
                raise ValueError(f"{where}: row {row.name!r} names no model")
        for column in section.columns:
            if (column.metric or table.metric) not in METRICS:
                raise ValueError(f"{where}: metric {column.metric or table.metric!r} is none of {', '.join(METRICS)}")
            if table.kind == "trained" and not (column.data and (column.test or column.quantity)):
                raise ValueError(f"{where}: column {column.label!r} needs `data` and `test`")


@cache
def tables(directory: Path = TABLE_DIR) -> dict[str, Table]:
    """Every declared table by name, the paper's first."""
    declared = (parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(directory.glob("[!.]*.yaml")))
    return {table.name: table for table in sorted(declared, key=lambda table: table.source == "own")}


def get_table(name: str, directory: Path = TABLE_DIR) -> Table:
    """One table by name. Raises ValueError, with the nearest names, when there is none."""
    known = tables(directory)
    if name not in known:
        raise ValueError(f"no table {name!r}{nearest(name, known)} (tables: {', '.join(known)})")
    return known[name]


def nearest(name: str, known: Iterable[str]) -> str:
    """A "did you mean" for error messages: what is spelled alike, else what begins alike; empty when nothing comes close."""
    among = list(known)
    close = difflib.get_close_matches(name, among, n=3, cutoff=0.5)
    close = close or [other for other in among if len(name) >= 3 and other.startswith(name[:3])][:3]
    return f"; did you mean {' or '.join(close)}?" if close else ""
