"""Numbers that are measured rather than trained (cost, equivariance error, redundancy): written by scripts, read by tables.

One file is one measurement on one machine, `<outputs>/measured/<table>/<name>.json`, or the JSON of a figure; files are never
averaged: each cell shows its newest value by the time written inside. Figures hold no time, and a file's own is that of the
last copy, so a figure fills only the cells that no measurement file has; of two figures, the first by name.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from t3cen.experiments import plain_json
from t3cen.experiments.schema import Table, get_table, nearest
from t3cen.results.records import Refused
from t3cen.training.files import write_text

SCHEMA = 1


@dataclass(frozen=True)
class Measurement:
    """Values by `"<section>/<row>/<column>"` (or `"<row>/<column>"`), in the unit of the table, and where they come from."""

    path: Path
    table: str
    cells: Mapping[str, float]
    provenance: Mapping[str, Any]
    finished: str
    """Empty for a figure."""

    @property
    def origin(self) -> str:
        """The provenance in one line."""
        return ", ".join(f"{key} {value}" for key, value in self.provenance.items())


def keys(table: Table) -> list[str]:
    """The name of every cell of a measured table."""
    return [key(section.name, row.name, column.key) for section, row, column, _ in table.cells()]


def key(section: str, row: str, column: str) -> str:
    return "/".join(part for part in (section, row, column) if part)


def write(outputs: Path, table: str, cells: Mapping[str, float], provenance: Mapping[str, Any], name: str = "latest") -> Path:
    """Write a measurement for `table`, whole or not at all.

    Args:
        outputs: the results folder.
        cells: values by cell name, see `keys`; cells left out are dashes.
        provenance: plain values that say where the numbers come from: device, data, command, commit.
        name: of the file; the same name again replaces it, another is a measurement of its own.

    Raises:
        ValueError: the table is not a measured one, a cell is not one of its, or a value is not finite.
    """
    declared = get_table(table)
    if declared.kind != "measured":
        raise ValueError(f"table {table!r} is {declared.kind}, not measured")
    _check(declared, cells)
    path = Path(outputs) / "measured" / table / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    content = {"schema": SCHEMA, "table": table, "finished": finished, "provenance": dict(provenance), "cells": dict(cells)}
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return path


def _check(table: Table, cells: Mapping[str, Any]) -> None:
    known = keys(table)
    for name, value in cells.items():
        if name not in known:
            raise ValueError(f"table {table.name!r} has no cell {name!r}{nearest(name, known)}")
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"cell {name!r} is {value!r}, a finite number expected")


def load(outputs: Path, table: str) -> tuple[list[Measurement], list[Refused]]:
    """Every measurement of `table`, the newest first, then figures, and every file that should be one and is not, with why.

    Besides measurement files these are the figures (outputs/figures/*.json) whose numbers hold cells of the table.
    """
    good, bad = [], []
    readers: list[tuple[Path, Callable[[Path, str], Measurement | None]]] = [
        (path, _own) for path in sorted((Path(outputs) / "measured" / table).glob("[!.]*.json"))
    ]
    readers += [(path, _figure) for path in sorted((Path(outputs) / "figures").glob("[!.]*.json"))]
    for path, read in readers:
        try:
            measurement = read(path, table)
            if measurement:
                _check(get_table(table), measurement.cells)
                good.append(measurement)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            bad.append(Refused(path, f"{type(error).__name__}: {error}"))
    return sorted(good, key=lambda m: m.finished, reverse=True), bad


def _own(path: Path, table: str) -> Measurement:
    content = plain_json.read(path)
    if content["schema"] != SCHEMA or content["table"] != table:
        raise ValueError(f"it is of table {content['table']!r}, schema {content['schema']!r}")
    if not isinstance(content["provenance"], Mapping):
        raise ValueError(f"its provenance is {content['provenance']!r}, a mapping expected")
    return Measurement(path, table, content["cells"], content["provenance"], str(content["finished"]))


def _figure(path: Path, table: str) -> Measurement | None:
    content = plain_json.read(path)
    numbers = content["numbers"]
    cells = numbers.get("tables", {}).get(table) if isinstance(numbers, Mapping) else None
    if not cells:
        return None
    stated = {name: numbers[name] for name in ("setting", "device") if name in numbers}
    dirty = " with uncommitted changes" if content.get("dirty") else ""
    origin = {**stated, "command": content["command"], "commit": str(content.get("commit", "unknown"))[:10] + dirty}
    return Measurement(path, table, cells, origin, "")


def newest(measurements: Iterable[Measurement]) -> dict[str, tuple[float, Measurement]]:
    """For each cell its newest value and where that comes from."""
    cells: dict[str, tuple[float, Measurement]] = {}
    for measurement in measurements:
        for name, value in measurement.cells.items():
            cells.setdefault(name, (value, measurement))
    return cells
