"""Fill a declared table with our results, ready to be printed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from t3cen.experiments import run_of
from t3cen.experiments.schema import Column, Row, Section, Table
from t3cen.results.agreement import compare, published
from t3cen.results.cells import Cells, Group, Selection, Statistic, statistic
from t3cen.results.records import Refused
from t3cen.tables import provenance
from t3cen.tables.observed import measured_table, settings_table
from t3cen.tables.printed import (
    ADDED,
    DIRTY,
    MIXED,
    STALE,
    TWIN,
    PrintedCell,
    PrintedRow,
    PrintedSection,
    PrintedTable,
    assemble,
)  # fmt: skip


def build(table: Table, cells: Cells, outputs: Path, refused: Sequence[Refused] = ()) -> PrintedTable:
    """The printed form of `table`.

    Args:
        cells: the records of one scale.
        outputs: the results folder, for measured tables.
        refused: result files that could not be used; they are counted under the table.
    """
    builders: dict[str, Callable[[], PrintedTable]] = {
        "trained": lambda: _trained(table, cells, refused),
        "measured": lambda: measured_table(table, outputs),
        "settings": lambda: settings_table(table),
    }
    return builders[table.kind]()


def _trained(table: Table, cells: Cells, refused: Sequence[Refused]) -> PrintedTable:
    selections: dict[str, Selection] = {}
    sections = []
    for section in table.sections:
        rows = []
        for row in section.rows:
            filled = []
            for index, column in enumerate(section.columns):
                run = _run_name(section, row, column, cells)
                selection = selections.setdefault(run, cells.select(run, table.seeds))
                filled.append(_trained_cell(table, row, column, index, run, selection.group))
            group = selections[filled[0].run].group
            if any(other.parameters for other in section.rows):
                filled.append(_parameters_cell(row, filled[0], group))
            rows.append(_row(row, table, filled, group))
        labels = [_column_label(section, index, table) for index in range(len(section.columns))]
        labels += ["Param"] if any(row.parameters for row in section.rows) else []
        metrics = ["" if column.quantity else column.metric or table.metric for column in section.columns]
        sections.append(_transposed(PrintedSection(section.title, tuple(labels), _marked(rows, metrics)), table.transposed))
    return assemble(table, sections, provenance.lines(table, cells, selections, refused), cells.scale)


def _run_name(section: Section, row: Row, column: Column, cells: Cells) -> str:
    own = run_of(row, column).name
    return run_of(section.row(row.same_as), column).name if row.same_as and own not in cells else own


def _row(row: Row, table: Table, cells: Sequence[PrintedCell], group: Group | None) -> PrintedRow:
    """The label as printed; where that is the name of another network than ours is of, ours beside it."""
    here = group.first.config["backbone"].replace("resnet", "ResNet") if group else row.label
    other = "ResNet" in row.label and here not in row.label
    label = f"{row.label} (here {here})" if other else row.label
    marked = label if row.published or not _in_paper(table) else f"{label} {ADDED}"
    return PrintedRow(marked, tuple(cells), bool(row.published), here if other else row.label)


def _column_label(section: Section, index: int, table: Table) -> str:
    label = section.columns[index].label
    printed = any(row.published and row.published[index] for row in section.rows)
    return label if printed or not _in_paper(table) else f"{label} {ADDED}"


def _in_paper(table: Table) -> bool:
    """Whether the paper prints the table as one; of a figure it prints single numbers only."""
    return table.source.startswith("tab:")


def _trained_cell(table: Table, row: Row, column: Column, index: int, run: str, group: Group | None) -> PrintedCell:
    paper = row.published[index] if row.published else None
    printed = published(paper, table.published_n)
    cell = PrintedCell(paper=paper, published=printed, run=run, seeds=group.seeds if group else ())
    if group is None:
        return cell
    if column.quantity:
        value = group.first.content.get(column.quantity)
        return replace(cell, ours=Statistic((float(value),)), seeds=(), digits=",.0f") if value is not None else cell
    ours = statistic(group, column.test, column.metric or table.metric)
    if ours is None:
        return cell
    flags = (STALE if not group.current else "") + (MIXED if group.mixed_code else "")
    flags += DIRTY if any(record.dirty for record in group.records) else ""
    flags += TWIN if row.same_as and run != run_of(row, column).name else ""
    same = group.current and group.first.scale == "paper" and group.first.source == "files"
    comparison = compare(ours, printed, judged=same) if printed else None
    return replace(cell, ours=ours, comparison=comparison, flags=flags, source=group.first.source)


def _parameters_cell(row: Row, first: PrintedCell, group: Group | None) -> PrintedCell:
    count = group.first.content.get("parameters") if group else None
    ours = Statistic((float(count),)) if count else None
    return PrintedCell(ours=ours, paper=row.parameters, run=first.run, digits="M")


def _marked(rows: list[PrintedRow], metrics: Sequence[str]) -> tuple[PrintedRow, ...]:
    """Mark the best and second best of each column, ties together.

    A column of equals has neither, as in the paper; nor has one of several data sources, or without a metric.
    """
    marked = [list(row.cells) for row in rows]
    for index, metric in enumerate(metrics):
        means = {i: round(row.cells[index].ours.mean, 2) for i, row in enumerate(rows) if row.cells[index].ours}  # type: ignore[union-attr]
        ranked = sorted(set(means.values()), reverse=metric == "accuracy")
        sources = {rows[i].cells[index].source for i in means}
        if metric and len(ranked) > 1 and len(sources) == 1:
            for i, mean in means.items():
                if mean in ranked[:2]:
                    marked[i][index] = replace(marked[i][index], mark="best" if mean == ranked[0] else "second")
    return tuple(replace(row, cells=tuple(cells)) for row, cells in zip(rows, marked, strict=True))


def _transposed(section: PrintedSection, wanted: bool) -> PrintedSection:
    if not wanted:
        return section
    columns = tuple(row.label for row in section.rows)
    rows = tuple(PrintedRow(label, tuple(row.cells[i] for row in section.rows)) for i, label in enumerate(section.columns))
    return PrintedSection(section.title, columns, rows)
