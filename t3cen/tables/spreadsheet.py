"""A printed table as CSV, one line a cell, for whoever wants to calculate."""

import csv
import io

from t3cen.tables.printed import PrintedCell, PrintedTable

HEADER = (
    "table", "section", "row", "column", "experiment", "mean", "sd", "n", "seeds", "mark", "flags", "source",
    "paper", "paper_mean", "paper_sd", "paper_n", "paper_mark", "difference", "low", "high", "p", "agrees", "method",
)  # fmt: skip


def render(table: PrintedTable, *, header: bool = True) -> str:
    """Lines of `HEADER`'s fields; an empty field is a number there is none of. Means are not rounded."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if header:
        writer.writerow(HEADER)
    for section in table.sections:
        for row in section.rows:
            for column, cell in zip(section.columns, row.cells, strict=True):
                writer.writerow((table.name, section.title, row.label, column, *_fields(cell)))
    return buffer.getvalue()


def _fields(cell: PrintedCell) -> tuple[object, ...]:
    ours, paper, comparison = cell.ours, cell.published, cell.comparison
    mean: object = cell.text if cell.text is not None else _number(ours.mean) if ours else None
    compared: tuple[object, ...] = (None,) * 6
    if comparison:
        numbers = (comparison.difference, comparison.low, comparison.high, comparison.p)
        compared = (*map(_number, numbers), comparison.agrees, comparison.method)
    return (
        cell.run, mean, _number(ours.sd) if ours else None, ours.n if ours else None, " ".join(map(str, cell.seeds)), cell.mark,
        cell.flags, cell.source, cell.paper_value if cell.paper else None,
        *((paper.mean, paper.sd, paper.n, paper.mark) if paper else (None,) * 4), *compared,
    )  # fmt: skip


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.10g}"
