"""What a shift of colour costs networks: a panel for each axis, an image under its shifts below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from t3cen.analysis.shift_cost import ShiftReport
from t3cen.data.shifts import shift
from t3cen.figures.style import GREY, canvas, frameless, line_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 7
"""Copies of the example image below each panel."""
TICKS = {"hue": (-180, -90, 0, 90, 180), "saturation": (-1, -0.5, 0, 0.5, 1), "luminance": (-0.5, -0.25, 0, 0.25, 0.5)}
UNITS = {"hue": "degrees", "saturation": "1 is its range", "luminance": "1 is its range"}


def draw(reports: Mapping[str, ShiftReport], title: str = "") -> tuple[Figure, dict[str, Any]]:
    """The measure against the shift of each axis, a line for each network.

    Args:
        reports: by the name of the network; all of one measure, on the same images and amounts.
        title: above it all.

    Raises:
        ValueError: no report, or reports of several measures.
    """
    if len(measures := {report.measure for report in reports.values()}) != 1:
        raise ValueError(f"reports of one measure are drawn together, got {', '.join(sorted(measures)) or 'none'}")
    first = next(iter(reports.values()))
    figure = canvas(max(5 * len(first.scores) + 0.5, 7), 5.6)
    curves, strips = figure.subplots(2, len(first.scores), height_ratios=(5, 1), squeeze=False)
    for column, axis in enumerate(first.scores):
        _curves(curves[column], reports, axis)
        _strip(strips[column], first, axis)
    curves[0].set_ylabel("right answers (%)" if first.measure == "accuracy" else "answers that stay the same (%)")
    handles, labels = curves[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(first.scores) + 1, len(labels)))
    count = f"{first.images} image{'' if first.images == 1 else 's'}"
    figure.suptitle(f"{title}, {count}" if title else count, fontsize=15)
    return figure, {name: report.as_dict() for name, report in reports.items()}


def _curves(axes: Any, reports: Mapping[str, ShiftReport], axis: str) -> None:
    scale = 360 if axis == "hue" else 1
    for number, (name, report) in enumerate(reports.items()):
        amounts, scores = np.array(report.scores[axis]).T
        axes.plot(scale * amounts, 100 * scores, markevery=4, clip_on=False, label=name, **line_style(number))
    first = next(iter(reports.values()))
    if first.commonest is not None:
        axes.axhline(100 * first.commonest, color=GREY, linestyle=":", linewidth=1.5, label="always the commonest class")
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    amounts = scale * np.array(first.scores[axis])[:, 0]
    axes.set(title=axis, xlabel=f"shift of {axis} ({UNITS[axis]})", xlim=(amounts.min(), amounts.max()), ylim=(0, 100))
    axes.set_xticks([tick for tick in TICKS[axis] if amounts.min() <= tick <= amounts.max()])


def _strip(axes: Any, report: ShiftReport, axis: str) -> None:
    amounts = [amount for amount, _ in report.scores[axis]]
    shown = np.linspace(min(amounts), max(amounts), SHOWN)
    row = [shift(report.example, **{axis: float(amount)}, mode=report.mode) for amount in shown]
    gap = np.ones((report.example.shape[1], max(1, report.example.shape[2] // 16), 3))
    images = [image.clamp(0, 1).permute(1, 2, 0).cpu().numpy() for image in row]
    axes.imshow(np.concatenate([part for image in images for part in (image, gap)][:-1], 1))
    frameless(axes)
