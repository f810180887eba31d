"""The summary of a finished run: errors, seed, time, result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from t3cen.experiments.record import Record


def errors(tests: Mapping[str, Mapping[str, float]]) -> str:
    """The error on every test set in one line: `error in 1.53 %, shift 12.40 %`."""
    return "error " + ", ".join(f"{name} {100 * values['error']:.2f} %" for name, values in tests.items())


def table(tests: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each test set: its name, the error, and how many of how many images are wrong."""
    width = max(len(name) for name in tests)
    return [
        f"{name:<{width}}  {100 * values['error']:6.2f} % error, {values['total'] - values['correct']:,} of {values['total']:,}"
        for name, values in tests.items()
    ]


def summary(record: Record) -> str:
    """The last lines of a run: how good it is on every test set, its seed, how long it trained, its folder."""
    time = timedelta(seconds=round(record.content.get("wall_seconds") or 0))
    lines = [
        f"{record.name}, scale {record.scale}, seed {record.seed}: trained in {time}",
        *(f"  {line}" for line in table(record.tests)),
        f"  result: {near(record.path)}",
    ]
    return "\n".join(lines)


def near(path: Path) -> str:
    """A path, from the working directory where it lies below it."""
    return os.path.relpath(path) if path.absolute().is_relative_to(Path.cwd()) else str(path)
