"""Tables whose cells are not trained: measured by a script, or read from today's configuration."""

from pathlib import Path

from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.experiments.schema import Table
from t3cen.results import measured
from t3cen.results.agreement import Comparison, published
from t3cen.results.cells import Statistic
from t3cen.tables.printed import PrintedCell, PrintedRow, PrintedSection, PrintedTable, assemble


def measured_table(table: Table, outputs: Path) -> PrintedTable:
    """The newest measurement of each cell beside the paper's numbers, and where it comes from."""
    found, bad = measured.load(outputs, table.name)
    cells = measured.newest(found)
    sections = []
    for section in table.sections:
        rows = []
        for row in section.rows:
            filled = []
            for index, column in enumerate(section.columns):
                paper = row.published[index] if row.published else None
                value, _ = cells.get(measured.key(section.name, row.name, column.key), (None, None))
                filled.append(_measured_cell(value, paper))
            rows.append(PrintedRow(row.label, tuple(filled), bool(row.published)))
        sections.append(PrintedSection(section.title, tuple(column.label for column in section.columns), tuple(rows)))
    used = [m for m in found if any(m is source for _, source in cells.values())]
    lines = [f"Unit: {table.unit}."] if table.unit else []
    lines += [f"Measured{f' {m.finished}' if m.finished else ''}: {m.origin}." for m in used] or ["Not measured yet."]
    lines += [f"{'Older' if m.finished else 'A figure'}, not shown: {m.path.name} ({m.origin})." for m in found if m not in used]
    lines += [f"Refused: {item.path.name}: {item.reason}." for item in bad]
    return assemble(table, sections, lines)


def _measured_cell(value: float | None, paper: str | None) -> PrintedCell:
    printed = published(paper, 1)
    if value is None:
        return PrintedCell(paper=paper, published=printed, digits=".4g")
    ours = Statistic((float(value),))
    comparison = Comparison(value - printed.mean) if printed else None
    return PrintedCell(ours=ours, paper=paper, published=printed, comparison=comparison, digits=".4g")


def settings_table(table: Table) -> PrintedTable:
    """Today's composed settings beside the printed ones."""
    sections = []
    for section in table.sections:
        ours = [_setting_texts(column.data) for column in section.columns]
        rows = [
            PrintedRow(
                row.label,
                tuple(PrintedCell(text=texts[row.name], paper=paper) for texts, paper in zip(ours, row.published, strict=True)),
            )
            for row in section.rows
        ]
        sections.append(PrintedSection(section.title, tuple(column.label for column in section.columns), tuple(rows)))
    return assemble(table, sections, ["Composed today from conf/, at scale paper."])


def _setting_texts(data: str) -> dict[str, str]:
    """The settings of a data set's plain network in the paper's notation."""
    config = compose(all_runs()[f"{data}_resnet"], "paper")
    scheduler = config["scheduler"]
    return {
        "arch": config["backbone"].replace("resnet", "ResNet"),
        "batch_size": str(config["data"]["batch_size"]),
        "epochs": str(config["trainer"]["max_epochs"]),
        "optimizer": config["optimizer"]["_target_"].rpartition(".")[2],
        "lr": f"{config['optimizer']['lr']:.0e}".replace("e-0", "e-"),
        "scheduler": "cos anneal." if "cosine" in str(scheduler).lower() else "N/A" if scheduler is None else str(scheduler),
    }
