"""Distribution of saturation in each of Camelyon17's hospitals (paper, fig. HTCNN_CamelyonDemoDistribution)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from t3cen.analysis.color_statistics import AXES, BINS, ColorStatistics, sample_pixels
from t3cen.analysis.movement import RANGE, distance
from t3cen.figures.style import BLUE, ORANGE, canvas, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMOOTH = 4


def draw(
    panels: Mapping[str, Tensor],
    trained: tuple[str, ...] | list[str] = (),
    axis: str = "saturation",
    title: str = "",
) -> tuple[Figure, dict[str, Any]]:
    """One panel per hospital, those trained on in another colour; below, how far hospitals lie apart in each axis.

    Args:
        panels: patches `(n, 3, H, W)` of each hospital, RGB in [0, 1].
        trained: the hospitals of the training set.
        axis: `hue`, `saturation` or `luminance`.
        title: above all, such as where the pictures come from.
    """
    statistics = {name: ColorStatistics(sample_pixels(images)) for name, images in panels.items()}
    figure = canvas(13.5, 4.6)
    grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    middles = (np.arange(BINS // SMOOTH) + 0.5) / (BINS // SMOOTH)
    numbers: dict[str, Any] = {"axis": axis}
    for axes, (name, found) in zip(grid, statistics.items(), strict=True):
        histogram = found.histogram(axis)
        shares = (histogram / histogram.sum()).view(-1, SMOOTH).sum(1).numpy()
        mean = found.summary()[axis]["mean"]
        color = BLUE if name in trained else ORANGE
        axes.fill_between(middles, shares, color=color, alpha=0.35, linewidth=0)
        axes.plot(middles, shares, color=color, linestyle="-" if name in trained else "--")
        axes.axvline(mean, color="black", linewidth=1.5, linestyle=":")
        axes.set_title(f"{name}\n{'training' if name in trained else 'not trained on'}, mean {mean:.2f}", fontsize=13)
        axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
        axes.set_xlabel(axis)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        numbers[name] = {"images": len(panels[name]), **found.summary()}
    grid[0].set_xlim(0, 1)
    grid[0].set_ylim(bottom=0)
    numbers["mean_distance_between_hospitals"] = apart = _apart(statistics)
    said = ", ".join(f"{name} {percent(share)}" for name, share in apart.items())
    figure.suptitle(title)
    figure.supxlabel(f"two hospitals lie apart, of each axis's range, on average: {said}", fontsize=13)
    return figure, numbers


def _apart(statistics: Mapping[str, ColorStatistics]) -> dict[str, float]:
    """Mean earth mover's distance of two hospitals, as a share of the axis's range."""
    pairs = list(combinations(statistics.values(), 2))
    return {axis: fmean(distance(axis, a.histogram(axis), b.histogram(axis)) for a, b in pairs) / RANGE[axis] for axis in AXES}
