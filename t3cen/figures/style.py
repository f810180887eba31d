"""How all figures look: fonts, colours and lines, readable from the back of a room, in black and white, and to everyone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, in an order whose lightness differs between neighbours, so that they stay apart in grey.
BLACK, BLUE, ORANGE, GREEN, RED, SKY, PINK = "#000000", "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
GREY = "#767676"
SERIES = (BLUE, ORANGE, GREEN, PINK, RED, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)), "-")
MAP = "cividis"
"""Colour map of heat maps: its lightness rises evenly, also to colour-blind readers."""

# One colour, marker and dash per kind of network, the same in every figure.
NETWORKS = {
    "t3cen": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "lcer": {"color": ORANGE, "marker": "s", "linestyle": DASHES[1]},
    "plain": {"color": BLACK, "marker": "X", "linestyle": DASHES[2]},
}
LABELS = {"t3cen": "T³CEN", "lcer": "LCER", "plain": "plain network"}

_SETTINGS: dict[str, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.family": "DejaVu Sans",
    "font.size": 13,
    "axes.titlesize": 14,
    "axes.labelsize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlepad": 8,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "legend.fontsize": 12,
    "legend.frameon": False,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "image.interpolation": "nearest",
    "pdf.fonttype": 42,
    "svg.hashsalt": "t3cen",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Everything drawn inside has the house style, whatever the user's own matplotlib settings are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
        yield


def canvas(width: float, height: float) -> Figure:
    """An empty figure of so many inches, laid out without overlaps, belonging to no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.1, wspace=0.02)
    FigureCanvasAgg(figure)
    return figure


def line_style(index: int) -> dict[str, Any]:
    """Colour, marker and dash of the index-th of several series: three ways to tell it from the others."""
    return {
        "color": SERIES[index % len(SERIES)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def show_image(axes: Axes, image: Tensor, title: str = "") -> None:
    """Draw an RGB image `(3, H, W)` in [0, 1] without axes."""
    axes.imshow(image.detach().clamp(0, 1).permute(1, 2, 0).cpu().numpy())
    frameless(axes)
    if title:
        axes.set_title(title)


def frameless(axes: Axes) -> None:
    """No ticks and no frame."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def tile(images: Tensor, columns: int, gap: int = 2) -> Tensor:
    """`(n, 3, H, W)` -> one image `(3, H', W')` of a grid with white gaps."""
    count, channels, height, width = images.shape
    rows = -(-count // columns)
    sheet = images.new_ones(channels, rows * (height + gap) - gap, columns * (width + gap) - gap)
    for at, image in enumerate(images):
        top, left = (at // columns) * (height + gap), (at % columns) * (width + gap)
        sheet[:, top : top + height, left : left + width] = image
    return sheet


def scientific(value: float, digits: int = 2) -> str:
    """A number as people write it: `0.45`, `4.7 × 10⁻⁶`."""
    if value == 0:
        return "0"
    exponent = int(np.floor(np.log10(abs(value))))
    if -3 < exponent < 4:
        return f"{value:.{max(0, digits - 1 - exponent)}f}"
    power = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value / 10**exponent:.{digits - 1}f} × 10{power}"


def percent(share: float) -> str:
    """A share in [0, 1] with two digits: `43 %`, `2.1 %`, `0.15 %`."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"


def lightness(colors: Sequence[str]) -> list[float]:
    """The lightness of colours in [0, 1], as a black-and-white print shows them."""
    from matplotlib.colors import to_rgb

    return [float(np.dot(to_rgb(color), (0.299, 0.587, 0.114))) for color in colors]
