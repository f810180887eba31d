"""What a claim of the paper is held against: its own printed numbers, our records, our measurements, its own formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from t3cen.analysis.claims import Statement, statements
from t3cen.data import DATA_SETS
from t3cen.experiments import Run, run_of
from t3cen.experiments.composition import compose
from t3cen.experiments.schema import Column, Row, Section, Table, get_table, tables
from t3cen.models import build
from t3cen.results import measured
from t3cen.results.agreement import published
from t3cen.results.cells import Cells, Statistic, statistic


@dataclass(frozen=True)
class Found:
    """One comparison: whether it is as claimed, None where one seed cannot tell, and the numbers."""

    holds: bool | None
    numbers: str


@dataclass(frozen=True)
class Evidence:
    """Where our numbers are: the records of one scale, and the folder with measurements."""

    cells: Cells
    outputs: Path


def check(what: Mapping[str, Any], evidence: Evidence | None) -> list[Found]:
    """Every comparison of one check of conf/claims.yaml; none where we have no numbers for it.

    Args:
        what: `table` with `rows` and `than`; `measured`; `statement`; or `parameters`.
        evidence: ours; None asks for the paper's printed numbers.

    Raises:
        ValueError: a check of another form, or a name that there is not.
    """
    if "table" in what:
        return list(_compared(what, evidence))
    if "measured" in what and evidence:
        return list(_measured(what, evidence))
    if "statement" in what:
        return list(_statement(what))
    if "parameters" in what:
        return list(_parameters())
    raise ValueError(f"conf/claims.yaml: a check names table, measured, statement or parameters, got {dict(what)}")


def _compared(what: Mapping[str, Any], evidence: Evidence | None) -> Iterator[Found]:
    """`rows` against `than` in every column: the best of the one against the best of the other, or `each` of `than`.

    `par` is by how many points `rows` may be worse. Of ours every seed of the one must lie beyond every seed of the other: at
    three seeds each, chance does so once in twenty times.
    """
    table = get_table(what["table"])
    sections = [s for s in table.sections if what.get("section", s.title) == s.title]
    if not sections:
        raise ValueError(f"conf/claims.yaml: {table.name} has no section {what['section']!r}")
    for section in sections:
        ours = [row for row in section.rows if _named(row, what.get("rows"), own=True)]
        others = [row for row in section.rows if row not in ours and _named(row, what.get("than"), own=False)]
        if not ours or not others:
            raise ValueError(f"conf/claims.yaml: nothing to compare in {table.name}, {dict(what)}")
        for column in section.columns:
            if column.label not in what.get("columns", [column.label]) or column.quantity:
                continue
            sign = -1 if (column.metric or table.metric) == "accuracy" else 1
            first = _values(table, section, ours, column, sign, evidence)
            second = _values(table, section, others, column, sign, evidence)
            if not first or not second:
                continue
            rivals = second if what.get("each") else [min(second, key=lambda found: found[1].mean * sign)]
            best = min(first, key=lambda found: found[1].mean * sign)
            for rival in rivals:
                yield _judge(best, rival, sign, what.get("par"), _place(section, column), printed=evidence is None)


def _named(row: Row, wanted: Sequence[str] | None, *, own: bool) -> bool:
    """Rows by name; by default T³CEN's on the one side, and on the other all that are not one of its runs under another name."""
    if wanted is not None:
        return row.name in wanted
    return row.label.startswith("T³CEN") if own else not row.label.startswith("T³CEN") and not row.same_as


def _values(
    table: Table, section: Section, rows: Sequence[Row], column: Column, sign: int, evidence: Evidence | None
) -> list[tuple[str, Statistic]]:
    found = []
    for row in rows:
        if evidence is None:
            cell = published(row.published[section.columns.index(column)] if row.published else None, table.published_n)
            value = Statistic((cell.mean,)) if cell else None
        else:
            run = run_of(section.row(row.same_as) if row.same_as else row, column).name
            group = evidence.cells.select(run, table.seeds).group
            value = statistic(group, column.test, column.metric or table.metric) if group else None
        if value is not None:
            found.append((row.label, value))
    return found


def _judge(
    first: tuple[str, Statistic], rival: tuple[str, Statistic], sign: int, par: float | None, place: str, *, printed: bool
) -> Found:
    (name, one), (other, two) = first, rival
    holds: bool | None
    if par is not None:
        holds = sign * (one.mean - two.mean) <= par
    elif printed:
        holds = sign * one.mean < sign * two.mean
    elif min(one.n, two.n) == 1:
        holds = None
    else:
        holds = max(sign * value for value in one.values) < min(sign * value for value in two.values)
    return Found(holds, f"{place}{name} {_told(one)}, {other} {_told(two)}")


def _told(value: Statistic) -> str:
    return f"{value.mean:.2f}" + (f" ({value.sd:.2f}, n={value.n})" if value.sd is not None else "")


def _place(section: Section, column: Column) -> str:
    title = f"{section.title}, " if section.title else ""
    return f"{title}{column.label}: " if len(section.columns) > 1 or title else ""


def _measured(what: Mapping[str, Any], evidence: Evidence) -> Iterator[Found]:
    found, _ = measured.load(evidence.outputs, what["measured"])
    values = measured.newest(found)
    for cell, bounds in what["cells"].items():
        if cell not in measured.keys(get_table(what["measured"])):
            raise ValueError(f"conf/claims.yaml: {what['measured']} has no cell {cell!r}")
        if cell in values:
            value, low, high = values[cell][0], bounds.get("above"), bounds.get("below")
            if "over" in bounds:
                value /= values[bounds["over"]][0]
            holds = (low is None or value > low) and (high is None or value < high)
            yield Found(holds, f"{bounds.get('label', cell)}: {value:.3g}")


def _statement(what: Mapping[str, Any]) -> Iterator[Found]:
    for cover in what.get("covers", ("triangle",)):
        known = _statements(cover)
        if what["statement"] not in known:
            raise ValueError(f"conf/claims.yaml: no statement {what['statement']!r}; there are {'; '.join(known)}")
        found = known[what["statement"]]
        yield Found(found.holds, f"{cover}: {found.measured}")


@cache
def _statements(cover: str) -> dict[str, Statement]:
    return {statement.text: statement for statement in statements(cover)}


def _parameters() -> Iterator[Found]:
    for table in tables().values():
        for section in table.sections:
            for row in (row for row in section.rows if row.parameters):
                count = parameters(row, section.columns[0])
                yield Found(
                    f"{count / 1e6:.1f}M" == row.parameters, f"{table.name}, {row.label} {count:,}, printed {row.parameters}"
                )


def parameters(row: Row, column: Column) -> int:
    """Parameters of the network of a row at scale paper, by the width rule; no weights are made."""
    return _parameters_of(run_of(row, column))


@cache
def _parameters_of(run: Run) -> int:
    config = compose(run, "paper")
    classes = len(DATA_SETS[config["data"]["_target_"].rpartition(".")[2]].class_names)
    with torch.device("meta"):
        network = build(config["backbone"], num_classes=classes, **config["model"])
    return sum(parameter.numel() for parameter in network.parameters())
