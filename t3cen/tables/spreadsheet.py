"""A printed table cell by cell, for whoever wants to calculate: as CSV, or as plain values."""

import csv
import io
from collections.abc import Iterator

from t3cen.tables.printed import PrintedCell, PrintedTable

HEADER = (
    "table", "section", "row", "column", "experiment", "mean", "sd", "n", "seeds", "mark", "flags", "source", "text",
    "paper", "paper_mean", "paper_sd", "paper_n", "paper_mark", "difference", "low", "high", "verdict", "method",
)  # fmt: skip
Value = str | float | int | bool | None


def lines(table: PrintedTable) -> Iterator[tuple[Value, ...]]:
    """The values of `HEADER`, cell by cell; None where there is none. Means are not rounded."""
    for section in table.sections:
        for row in section.rows:
            for column, cell in zip(section.columns, row.cells, strict=True):
                yield (table.name, section.title, row.label, column, *_values(cell))


def _values(cell: PrintedCell) -> tuple[Value, ...]:
    ours, paper, test = cell.ours, cell.published, cell.comparison
    return (
        cell.run, *((ours.mean, ours.sd, ours.n) if ours else (None,) * 3), " ".join(map(str, cell.seeds)),
        cell.mark, cell.flags, cell.source, cell.text, cell.paper_value if cell.paper else None,
        *((paper.mean, paper.sd, paper.n, paper.mark) if paper else (None,) * 4),
        *((test.difference, test.low, test.high, test.verdict, test.method) if test else (None,) * 5),
    )  # fmt: skip


def render(table: PrintedTable, *, header: bool = True) -> str:
    """The lines as CSV; an empty field is a value there is none of."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if header:
        writer.writerow(HEADER)
    writer.writerows([f"{value:.10g}" if isinstance(value, float) else value for value in line] for line in lines(table))
    return buffer.getvalue()
