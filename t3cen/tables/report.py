"""One self-contained page: tables, figures, curves, runs, environment. Nothing on it is loaded from elsewhere."""

import base64
import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from t3cen.experiments import runs_of
from t3cen.experiments.record import Record
from t3cen.experiments.schema import Table, tables
from t3cen.results import measured
from t3cen.results.cells import Cells, Group
from t3cen.results.records import Results
from t3cen.tables import curves, html
from t3cen.tables.build import build
from t3cen.training.files import read_json

log = logging.getLogger(__name__)
SCALES = ("paper", "laptop", "smoke")


@dataclass(frozen=True)
class Drawing:
    """A figure of outputs/figures, as a data URI."""

    name: str
    uri: str
    command: str


@dataclass(frozen=True)
class Shown:
    """One table on the page, with the curves of its networks."""

    name: str
    title: str
    fragment: Markup
    curves: tuple[tuple[str, Markup], ...] = ()


@dataclass(frozen=True)
class Part:
    """Every table of one scale that has results."""

    scale: str
    shown: tuple[Shown, ...]


def render(outputs: Path, results: Results, page: Path, generated: str) -> str:
    """The page as HTML.

    Args:
        outputs: the results folder, for measurements and figures.
        results: what `records.load` read there.
        page: where the page will lie; links to runs are relative to it.
        generated: when and from which commit, in words.
    """
    parts = [part for scale in _scales(results) if (part := _part(scale, outputs, results)).shown]
    still = [table for table in tables().values() if table.kind != "trained"]
    untrained = [_shown(table, Cells(results, "paper"), outputs, results) for table in still if _has_numbers(table, outputs)]
    seen = {shown.name for part in parts for shown in part.shown} | {shown.name for shown in untrained}
    context = {
        "title": "T³CEN: results beside the paper's",
        "generated": generated,
        "parts": parts,
        "untrained": untrained,
        "without": [table for table in tables().values() if table.name not in seen],
        "figures": list(_figures(outputs / "figures")),
        "runs": [(record, _link(record, page)) for record in sorted(results.records, key=_order)],
        "refused": [str(replace(item, path=Path(os.path.relpath(item.path, outputs)))) for item in results.refused],
        "environment": _environment(results.records),
    }
    return html.environment().get_template("report.html.j2").render(context) + "\n"


def _scales(results: Results) -> list[str]:
    found = {record.scale for record in results.records}
    return [scale for scale in SCALES if scale in found] + sorted(found - set(SCALES))


def _part(scale: str, outputs: Path, results: Results) -> Part:
    cells = Cells(results, scale)
    trained = [table for table in tables().values() if table.kind == "trained"]
    filled = [table for table in trained if any(run.name in cells for run in runs_of(table))]
    return Part(scale, tuple(_shown(table, cells, outputs, results) for table in filled))


def _shown(table: Table, cells: Cells, outputs: Path, results: Results) -> Shown:
    printed = build(table, cells, outputs, results.refused)
    selections = ((run.name, cells.select(run.name, table.seeds).group) for run in runs_of(table))
    drawn = tuple((name, picture) for name, group in selections if group and (picture := _curves(name, group)))
    return Shown(table.name, table.title, Markup(html.render(printed)), drawn)


def _curves(name: str, group: Group) -> Markup | None:
    logs = [curves.read(record.path.parent) for record in group.records]
    validation = sorted({key for log in logs for key in log if key.startswith("validation/") and key.endswith("/error")})
    series = {"training loss": [log.get("train/loss", []) for log in logs]}
    if validation:
        series["validation error in %"] = [[(step, 100 * error) for step, error in log.get(validation[0], [])] for log in logs]
    return curves.svg(series, f"Training curves of {name}") if any(any(lines) for lines in series.values()) else None


def _has_numbers(table: Table, outputs: Path) -> bool:
    return table.kind == "settings" or bool(measured.load(outputs, table.name)[0])


def _figures(folder: Path) -> Iterator[Drawing]:
    for path in sorted(folder.glob("[!.]*.png")):
        command = read_json(path.with_suffix(".json")).get("command", "")
        try:
            uri = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            log.warning("%s cannot be read (%s) and is left out", path, error.strerror)
            continue
        yield Drawing(path.stem.replace("_", " "), uri, str(command))


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
