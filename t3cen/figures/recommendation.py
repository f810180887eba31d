"""One page on the colours of a data set and the group they call for."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from t3cen.analysis.color_statistics import AXES, BINS
from t3cen.analysis.recommendation import LEAST, Recommendation
from t3cen.figures.style import BLACK, BLUE, DASHES, GREY, ORANGE, RED, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMOOTH = 4  # bins drawn as one


def draw(found: Recommendation, title: str = "") -> tuple[Figure, dict[str, Any]]:
    """Above, the three distributions in training and deployment; below, the moves, what groups leave over, and the verdict."""
    figure = canvas(14, 7.6)
    grid = figure.subplots(2, 3, height_ratios=(1.1, 1))
    for axes, axis in zip(grid[0], AXES, strict=True):
        _distribution(axes, found, axis)
    _moves(grid[1, 0], found)
    _candidates(grid[1, 1], found)
    _verdict(grid[1, 2], found)
    if title:
        figure.suptitle(title, fontsize=16)
    return figure, found.as_dict()


def _distribution(axes: Any, found: Recommendation, axis: str) -> None:
    middles = (np.arange(BINS // SMOOTH) + 0.5) / (BINS // SMOOTH) * (360 if axis == "hue" else 1)
    sets = [("training", found.train, BLUE, "-")]
    if found.deployment is not None:
        sets.append(("deployment", found.deployment, ORANGE, DASHES[1]))
    for name, statistics, color, dash in sets:
        histogram = statistics.histogram(axis)
        if histogram.sum() > 0:
            shares = (histogram / histogram.sum()).view(-1, SMOOTH).sum(1).numpy()
            axes.plot(middles, shares, color=color, linestyle=dash, label=name)
            axes.fill_between(middles, shares, color=color, alpha=0.15, linewidth=0)
    move = found.moves[axis]
    between = "images differ by" if found.moves_between_images else "moves"
    size = f"{360 * move.distance:.0f}°" if axis == "hue" else f"{move.distance:.2f}"
    axes.set_title(f"{axis}: {between} {size}")
    axes.set_yticks([])
    axes.set_ylim(bottom=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(0, middles[-1] + middles[0])
    axes.set_xticks([0, 90, 180, 270] if axis == "hue" else [0, 0.25, 0.5, 0.75])
    if axis == "hue":
        axes.set_xticklabels(["0°", "90°", "180°", "270°"])
        axes.legend(loc="best")


def _moves(axes: Any, found: Recommendation) -> None:
    """A bar for each axis, and below it, where there are classes, how well the axis predicts them."""
    places = np.arange(len(AXES)) - (0.18 if found.signals else 0)
    shares = [100 * found.moves[axis].share for axis in AXES]
    colors = [BLUE if found.moves[axis].stands_out(LEAST) else "#C8C8C8" for axis in AXES]
    axes.barh(places, shares, color=colors, height=0.32 if found.signals else 0.6, label="moves (% of its range)")
    _write(axes, places, shares)
    if found.signals:
        strengths = [100 * found.signals[axis].strength for axis in AXES]
        label = "predicts the class (% of what chance leaves)"
        axes.plot(strengths, places + 0.4, "D", color=RED, markersize=8, clip_on=False, label=label, linestyle="")
        _write(axes, places + 0.4, strengths)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.25, 1.0), fontsize=11)
    axes.set_yticks(range(len(AXES)), AXES)
    axes.invert_yaxis()
    axes.set_xlim(0, max(100 if found.signals else 0, 1.25 * max(shares), 5))
    axes.set_xlabel("%")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _write(axes: Any, places: Any, values: Sequence[float]) -> None:
    for place, value in zip(places, values, strict=True):
        axes.annotate(f"{value:.0f} %", (value, place), (9, 0), textcoords="offset points", va="center", fontsize=11)


def _candidates(axes: Any, found: Recommendation) -> None:
    names = [candidate.name for candidate in found.candidates]
    left = [100 * candidate.left_over for candidate in found.candidates]
    colors = [RED if name == found.group else "#B0B0B0" for name in names]
    axes.bar(names, left, color=colors, width=0.75)
    axes.plot(names, [100 * c.sheet_changes for c in found.candidates], "_", color=BLACK, markersize=12, markeredgewidth=2.5)
    axes.set_xticks(range(len(names)), [name.upper() for name in names], rotation=90, fontsize=10)
    axes.set_ylabel("%")
    axes.set_ylim(0, 105)
    axes.set_title("bars: move left over; dashes: sheet changes", fontsize=12)


def _verdict(axes: Any, found: Recommendation) -> None:
    axes.set_axis_off()
    headline = "a plain network" if found.group == "h1" else f"T³CEN-{found.group.upper()}"
    axes.text(0, 1.0, "Recommended:", fontsize=13, color=GREY, transform=axes.transAxes, va="top")
    axes.text(0, 0.9, headline, fontsize=24, weight="bold", transform=axes.transAxes, va="top")
    if found.color_is_signal:
        axes.text(
            0, 0.7, "Colour looks like the signal.", fontsize=14, color=RED, weight="bold", transform=axes.transAxes, va="top"
        )
    said = found.warnings[0] if found.color_is_signal else found.reasons[1]
    reason = textwrap.fill(said, 46, max_lines=9, placeholder=" …")
    axes.text(0, 0.6, reason, fontsize=11.5, transform=axes.transAxes, va="top")
