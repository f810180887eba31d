"""Share of fully and partially redundant pixels by data set, beside the paper's table (paper, tab:redundant_metric)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from t3cen.analysis.images import evenly, image_files, read_image
from t3cen.analysis.redundancy import HALF_LEVEL, redundancy_shares
from t3cen.data.errors import DataError
from t3cen.experiments.schema import get_table
from t3cen.figures.pictures import from_split
from t3cen.figures.style import BLACK, MARKERS, SERIES, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "redundant_lifting"
KINDS = {"full": "fully redundant (0.5)", "partial": "partially redundant (0.25, 0.75)"}
NONE = 0.001
"""Percent; shares that are smaller stand at the left end of the axis, which is labelled 0."""


def draw(
    sets: Sequence[str], count: int = 500, split: str = "train", tolerance: float = HALF_LEVEL, **options: Any
) -> tuple[Figure, dict[str, Any]]:
    """Dots for saturation, luminance and their mean; diamonds are the paper's numbers.

    Args:
        sets: names of conf/data, or paths of folders of images. Those whose files are missing are named, not drawn.
        count: images of each, spread evenly.
        split: `train` or the name of a test set.
        tolerance: how near a value must lie, see `redundancy_shares`; the default is half an 8-bit level.
        options: `scale`, `data_root`, `overrides` of the data sets.

    Raises:
        DataError: none of the sets has its files.
    """
    shares: dict[str, dict[str, dict[str, float]]] = {}
    absent: dict[str, str] = {}
    for name in sets:
        try:
            shares[name] = redundancy_shares((image[None] for image in _images(name, split, count, options)), tolerance)
        except DataError as error:
            absent[name] = str(error)
    if not shares:
        raise DataError("none of the data sets is there:\n" + "\n".join(absent.values()))
    published = _published()
    measured = {f"{kind}/{name}": 100 * shares[name]["mean"][kind] for kind in KINDS for name in shares if name in published}
    numbers: dict[str, Any] = {
        "tolerance": tolerance,
        "images": count,
        "shares": shares,
        "not_there": absent,
        "published": published,
    }
    # The paper's table is of its own data sets, and only files of those may stand in it.
    numbers["tables"] = {TABLE: measured} if measured else {}
    return _figure(shares, published), numbers


def _images(name: str, split: str, count: int, options: Mapping[str, Any]) -> list[Tensor]:
    if Path(name).exists():
        return [read_image(path) for path in evenly(image_files(Path(name)), count)]
    return from_split(name, split, count, **options)


def _published() -> dict[str, dict[str, float]]:
    """The paper's shares, by data set and kind."""
    found: dict[str, dict[str, float]] = {}
    for _, row, column, cell in get_table(TABLE).cells():
        if cell is not None:
            found.setdefault(column.data, {})[row.name] = float(cell) / 100
    return found


def _figure(shares: Mapping[str, Any], published: Mapping[str, Any]) -> Figure:
    """A line for each data set; shares on a logarithmic axis, whose left end is none at all."""
    figure = canvas(13, 1.8 + 0.5 * len(shares))
    grid = figure.subplots(1, 2, sharey=True, sharex=True)
    for axes, (kind, title) in zip(grid, KINDS.items(), strict=True):
        for at, axis in enumerate(("saturation", "luminance", "mean")):
            heights = [max(100 * shares[name][axis][kind], NONE) for name in shares]
            places = [place + 0.22 * (at - 1) for place in range(len(shares))]
            axes.hlines(places, NONE, heights, color=SERIES[at], linewidth=1.2)
            axes.plot(heights, places, MARKERS[at], color=SERIES[at], label=axis, clip_on=False)
        known = [(max(100 * published[name][kind], NONE), place) for place, name in enumerate(shares) if name in published]
        if known:
            axes.plot(*zip(*known, strict=True), "D", color=BLACK, markerfacecolor="white", label="paper (mean)", clip_on=False)
        axes.set_xscale("log")
        axes.set_xlim(NONE, 100)
        axes.set_xticks([NONE, 0.01, 0.1, 1, 10, 100], ["0", "0.01", "0.1", "1", "10", "100"])
        axes.set_yticks(range(len(shares)), [Path(name).name for name in shares])
        axes.grid(axis="x", color="#E0E0E0")
        axes.set_axisbelow(True)
        axes.set_title(title, loc="left")
        axes.set_xlabel("pixels (%)")
    grid[0].invert_yaxis()
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles))
    return figure
