"""One self-contained page: a summary, tables, figures, curves, runs, environment. Nothing on it is loaded from elsewhere."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from t3cen.experiments import runs_of
from t3cen.experiments.record import Record
from t3cen.experiments.schema import Table, tables
from t3cen.progress import Progress
from t3cen.results import measured
from t3cen.results.cells import Cells, Group
from t3cen.results.records import Results
from t3cen.tables import claims, coverage, curves, html, scatter
from t3cen.tables.build import build
from t3cen.tables.claim_checks import Evidence
from t3cen.tables.drawings import drawings
from t3cen.tables.printed import PrintedCell, PrintedTable, filled_rows

SCALES = ("paper", "laptop", "smoke")
FARTHEST = 8
"""How many of the cells that are farthest from the paper's are listed."""


@dataclass(frozen=True)
class Shown:
    """One table on the page, with the curves of its networks."""

    name: str
    title: str
    fragment: Markup
    curves: tuple[tuple[str, Markup], ...] = ()


@dataclass(frozen=True)
class Part:
    """Every table of one scale that has results; its cells against the paper's, those that are farthest away, and the claims."""

    scale: str
    shown: tuple[Shown, ...]
    age: str
    claims: list[claims.Judged]
    against: Markup | None
    dots: int
    farthest: tuple[tuple[str, PrintedCell], ...]


def render(outputs: Path, results: Results, page: Path, generated: str) -> str:
    """The page as HTML.

    Args:
        outputs: the results folder, for measurements and figures.
        results: what `records.load` read there.
        page: where the page will lie; links to runs are relative to it.
        generated: when and from which commit, in words.
    """
    every = list(tables().values())
    cells = {scale: Cells(results, scale) for scale in _scales(results)}
    printed = {
        scale: {table.name: build(table, of_scale, outputs, results.refused) for table in _counted(every, scale)}
        for scale, of_scale in (cells or {"paper": Cells(results, "paper")}).items()
    }
    parts = [part for scale in cells if (part := _part(scale, cells[scale], printed[scale], results, outputs)).shown]
    still = next(iter(printed.values()))
    untrained = [_shown(table, still[table.name]) for table in every if table.kind != "trained" and _has_numbers(table, outputs)]
    seen = {shown.name for part in parts for shown in part.shown} | {shown.name for shown in untrained}
    covered = coverage.coverage(every, printed)
    context = {
        "title": "T³CEN: results beside the paper's",
        "generated": generated,
        "scales": list(cells),
        "covered": [one for one in covered if one.filled],
        "total": coverage.total(covered),
        "parts": parts,
        "count": claims.count,
        "untrained": untrained,
        "without": [table for table in every if table.name not in seen],
        "figures": list(drawings(outputs / "figures")),
        "runs": [(record, _link(record, page)) for record in sorted(results.records, key=_order)],
        "refused": [str(replace(item, path=Path(os.path.relpath(item.path, outputs)))) for item in results.refused],
        "environment": _environment(results.records),
    }
    return html.environment().get_template("report.html.j2").render(context) + "\n"


def _counted(every: Sequence[Table], scale: str) -> Iterable[Table]:
    return Progress(f"tables, scale {scale}", iterable=every, unit="table", leave=False, delay=1)


def _scales(results: Results) -> list[str]:
    found = {record.scale for record in results.records}
    return [scale for scale in SCALES if scale in found] + sorted(found - set(SCALES))


def _part(scale: str, cells: Cells, printed: dict[str, PrintedTable], results: Results, outputs: Path) -> Part:
    trained = [table for table in tables().values() if table.kind == "trained"]
    filled = [table for table in trained if any(run.name in cells for run in runs_of(table))]
    compared = [pair for table in filled for pair in coverage.compared(printed[table.name])]
    dots = scatter.dots(compared)
    farthest = sorted((pair for pair in compared if pair[1].comparison), key=_distance, reverse=True)[:FARTHEST]
    age = coverage.ages([record for record in results.records if record.scale == scale])
    shown = tuple(_shown(table, printed[table.name], cells) for table in filled)
    judged = [claims.judge(claim, Evidence(cells, outputs)) for claim in claims.read()]
    return Part(scale, shown, age, judged, scatter.svg(dots) if dots else None, len(dots), tuple(farthest))


def _distance(pair: tuple[str, PrintedCell]) -> float:
    comparison = pair[1].comparison
    return abs(comparison.difference) if comparison else 0.0


def _shown(table: Table, printed: PrintedTable, cells: Cells | None = None) -> Shown:
    """A table without the rows that hold nothing of ours, which are named below it."""
    selections = ((run.name, cells.select(run.name, table.seeds).group) for run in runs_of(table)) if cells else ()
    drawn = tuple((name, picture) for name, group in selections if group and (picture := _curves(name, group)))
    return Shown(table.name, table.title, Markup(html.render(filled_rows(printed))), drawn)


def _curves(name: str, group: Group) -> Markup | None:
    logs = [curves.read(record.path.parent) for record in group.records]
    validation = sorted({key for log in logs for key in log if key.startswith("validation/") and key.endswith("/error")})
    series = {"training loss": [log.get("train/loss", []) for log in logs]}
    if validation:
        series["validation error in %"] = [[(step, 100 * error) for step, error in log.get(validation[0], [])] for log in logs]
    return curves.svg(series, f"Training curves of {name}") if any(any(lines) for lines in series.values()) else None


def _has_numbers(table: Table, outputs: Path) -> bool:
    return table.kind == "settings" or bool(measured.load(outputs, table.name)[0])


def _order(record: Record) -> tuple[str, str, int]:
    return record.scale, record.name, record.seed


def _link(record: Record, page: Path) -> str:
    """A relative link; quoted, a colon in a folder's name begins no scheme."""
    return quote(os.fsencode(Path(os.path.relpath(record.path, page.parent)).as_posix()), safe="/=,+")


def _environment(records: Sequence[Record]) -> list[tuple[str, str]]:
    """What the runs were made with: every version and device, and of how many runs."""
    counts: dict[str, Counter[str]] = {}
    for record in records:
        entries = {
            "device": record.content.get("device", "unknown"),
            "commit": record.commit[:10],
            **(record.content.get("versions") or {}),
        }
        for key, value in entries.items():
            counts.setdefault(key, Counter())[str(value)] += 1
    return [(key, ", ".join(f"{value} ({n})" for value, n in counter.most_common())) for key, counter in counts.items()]
