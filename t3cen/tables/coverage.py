"""How much of the paper has a number of ours beside it: by table and scale, of which pictures, how old."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from t3cen.experiments.record import Record
from t3cen.experiments.schema import Table
from t3cen.tables.printed import PrintedCell, PrintedTable


@dataclass(frozen=True)
class Covered:
    """One table of the paper: how many numbers it prints and, by scale, how many of these have ours, by their pictures."""

    name: str
    title: str
    printed: int
    filled: Mapping[str, Mapping[str, int]]

    def told(self, scale: str) -> str:
        """`12 rendered, 3 files`, or a dash."""
        return told(self.filled.get(scale, {}))


def told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "–"


def coverage(tables: Iterable[Table], printed: Mapping[str, Mapping[str, PrintedTable]]) -> list[Covered]:
    """The tables of the paper that hold numbers, and what is filled of each.

    Args:
        tables: all there are; those of our own and of settings are left out.
        printed: by scale and name, tables filled with results of that scale; every scale has every table.
    """
    found = []
    for table in tables:
        if table.source == "own" or table.kind == "settings":
            continue
        counts = {scale: _sources(of_scale[table.name]) for scale, of_scale in printed.items()}
        numbers = len(list(compared(next(iter(printed.values()))[table.name]))) if printed else 0
        found.append(Covered(table.name, table.title, numbers, {scale: count for scale, count in counts.items() if count}))
    return found


def total(covered: Sequence[Covered]) -> Covered:
    """Their sum."""
    sums: dict[str, Counter[str]] = {}
    for one in covered:
        for scale, counts in one.filled.items():
            sums.setdefault(scale, Counter()).update(counts)
    return Covered("", "all", sum(one.printed for one in covered), sums)


def compared(table: PrintedTable) -> Iterator[tuple[str, PrintedCell]]:
    """The cells in which the paper prints a number, each with a name."""
    for section in table.sections:
        for row in section.rows:
            for column, cell in zip(section.columns, row.cells, strict=True):
                if cell.published:
                    yield " · ".join(filter(None, (table.title, section.title, row.label, column))), cell


def _sources(table: PrintedTable) -> Counter[str]:
    return Counter(cell.source or "measured" for _, cell in compared(table) if cell.ours)


def ages(records: Sequence[Record]) -> str:
    """When the records of one scale were finished, and how many are of the code on disk."""
    days = sorted(str(record.content.get("finished", ""))[:10] for record in records)
    between = days[0] if days[0] == days[-1] else f"between {days[0]} and {days[-1]}"
    today = sum(record.is_of_todays_code for record in records)
    return f"{len(records)} results, finished {between}; {today} of them by today's code"
