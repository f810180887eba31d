"""Example pictures of the sets of a data set, side by side (paper, the example figures of its appendix)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from t3cen.analysis.color_statistics import ColorStatistics, sample_pixels
from t3cen.figures.style import canvas, show_image, tile

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(panels: Mapping[str, Tensor], title: str = "", columns: int | None = None) -> tuple[Figure, dict[str, Any]]:
    """One sheet of pictures per set.

    Args:
        panels: by the text above it, the pictures `(n, 3, H, W)` of a set, RGB in [0, 1].
        title: above all.
        columns: of each sheet; None makes it nearly square.

    Raises:
        ValueError: no set.
    """
    if not panels:
        raise ValueError("no pictures to show")
    shapes = {}
    for name, images in panels.items():
        across = columns or math.ceil(math.sqrt(len(images)))
        shapes[name] = (across, math.ceil(len(images) / across))
    rows = max(down for _, down in shapes.values())
    width = sum(across for across, _ in shapes.values())
    lines = max(name.count("\n") for name in panels) + 1
    inches = min(14.0, 1.35 * width + 0.6)
    figure = canvas(inches, 0.96 * inches * rows / width + 0.3 * lines + 0.4 * bool(title))
    grid = figure.subplots(1, len(panels), squeeze=False, width_ratios=[across for across, _ in shapes.values()])[0]
    numbers: dict[str, Any] = {"title": title}
    for axes, (name, images) in zip(grid, panels.items(), strict=True):
        show_image(axes, tile(images, shapes[name][0]), name)
        numbers[name.replace("\n", " ")] = {"pictures": len(images), **ColorStatistics(sample_pixels(images)).summary()}
    if title:
        figure.suptitle(title, fontsize=16)
    return figure, numbers
