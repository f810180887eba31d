"""The numbers of figures that were drawn, as curves and bars that a dashboard can draw again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from t3cen.experiments import plain_json

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plot:
    """Values of several series at common places: curves where `places` are numbers, bars where they are names.

    Attributes:
        name: of the plot, in words separated by slashes.
        title, x, y: what it shows, and what its axes are.
        series: by label, a value for each place; None where there is none.
    """

    name: str
    title: str
    x: str
    y: str
    places: Sequence[float] | Sequence[str]
    series: Mapping[str, Sequence[float | None]]


def plots(folder: Path) -> Iterator[Plot]:
    """The curves between the steps and the cost of training, of every such figure in a folder; damaged ones are named."""
    for path in sorted(folder.glob("[!.]*.json")):
        try:
            content = plain_json.read(path)
            read = READERS.get(content.get("config", {}).get("figure", {}).get("_target_"))
            yield from read(content["figure"], content["numbers"]) if read else ()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            log.warning("%s cannot be read (%s: %s) and is left out", path, type(error).__name__, error)


def _between_steps(name: str, numbers: Mapping[str, Any]) -> Iterator[Plot]:
    for axis in ("hue", "saturation", "luminance"):
        measured = dict(numbers.get(axis, {}))
        amounts, step = measured.pop("amounts", []), measured.pop("step", None)
        unit = "turns" if axis == "hue" else f"of the range of {axis}"
        for mode in dict.fromkeys(mode for curves in measured.values() for mode in curves):
            series = {label: curves[mode] for label, curves in measured.items() if mode in curves}
            title = f"error against a shift of {axis}, step {step:g}; {numbers['runs']}"
            key = f"{name}/{axis}" + ("" if axis == "hue" else f"/{mode}")
            yield Plot(key, title, f"shift ({unit}; ends: {mode})", "error (%)", amounts, series)


def _training_cost(name: str, numbers: Mapping[str, Any]) -> Iterator[Plot]:
    p = numbers["protocol"]
    where = f"{p['image_size']} x {p['image_size']} pixels, batch {p['batch_size']}, on {numbers['device']}"
    for key, what in (("memory_mib", "memory (MiB)"), ("iterations_per_second", "iterations per second")):
        groups = list(dict.fromkeys(group for row in numbers["measured"].values() for group in row))
        series = {label: [row.get(group, {}).get(key) for group in groups] for label, row in numbers["measured"].items()}
        yield Plot(f"{name}/{key}", f"{what} of training ResNet18, {where}", "group", what, [g.upper() for g in groups], series)


READERS = {"t3cen.figures.between_steps.draw": _between_steps, "t3cen.figures.training_cost.draw": _training_cost}
"""By the function that drew a figure, what its numbers say."""
