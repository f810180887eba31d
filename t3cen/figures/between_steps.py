"""Error against a continuous shift of hue, saturation and luminance: what equivariance buys, and where it ends (ours)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from t3cen.data.shifts import shift
from t3cen.figures.finished_runs import Runs, error_rates, held_out_images, trained_network
from t3cen.figures.style import BLACK, BLUE, DASHES, GREEN, ORANGE, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ("hue", "saturation", "luminance")
LOOKS = {
    "plain": {"color": BLACK, "marker": "X"},
    "lcer": {"color": ORANGE, "marker": "s"},
    "t3cen": {"color": BLUE, "marker": "o"},
    "t3cen_high": {"color": GREEN, "marker": "^"},
    "continuous": {"color": GREEN, "marker": "D"},
}


def draw(
    runs: Runs,
    axes: Mapping[str, Mapping[str, Any]],
    seeds: Sequence[int] = (1999,),
    images: int = 200,
    points: int = 17,
    modes: Sequence[str] = ("fold", "clip"),
) -> tuple[Figure, dict[str, Any]]:
    """One column per axis, one row per way the ends of the range are treated (hue has none); dashed with `step_jitter`.

    Args:
        runs: where the runs are found or trained.
        axes: by axis, `data` (the text below the axis), `test` (the unshifted test set), `step` (of the group whose steps are
            marked, in turns or units of the value) and `networks`: by label, an `experiment` (with settings after blanks), the
            `look` of its line and whether it is `jittered`.
        seeds: of the runs; curves are means over them.
        images: of the test set.
        points: shifts on each axis, from -1/2 to 1/2 turn of hue and from -1 to 1 otherwise.
        modes: `fold`, `clip` or `scale`, see `t3cen.data.shifts`.
    """
    wanted = [network["experiment"] for axis in axes.values() for network in axis["networks"].values()]
    found = runs.get(wanted, seeds)
    figure = canvas(5.2 * len(axes) + 0.6, 3.6 * len(modes) + 0.9)
    grid = figure.subplots(len(modes), len(axes), squeeze=False, sharey=True)
    numbers: dict[str, Any] = {"runs": runs.caption(seeds, found[wanted[0]][0].source)}
    for column, (axis, about) in zip(grid.T, axes.items(), strict=True):
        numbers[axis] = _measure(axis, about, found, images, points, modes if axis != "hue" else modes[:1])
        for row, mode in enumerate(modes):
            if axis == "hue" and row:
                column[row].set_axis_off()
                continue
            _plot(column[row], axis, about, numbers[axis], mode)
    for row in grid:
        shown = next(place for place in row if place.lines)
        shown.set_ylabel("error (%)")
        shown.tick_params(labelleft=True)
    figure.suptitle(numbers["runs"], fontsize=12)
    _legend(grid)
    return figure, numbers


def _measure(
    axis: str, about: Mapping[str, Any], found: Mapping[str, Any], images: int, points: int, modes: Sequence[str]
) -> dict[str, Any]:
    reach = 0.5 if axis == "hue" else 1.0
    amounts = np.linspace(-reach, reach, points).tolist()
    measured: dict[str, Any] = {"amounts": amounts, "step": about["step"]}
    for label, network in about["networks"].items():
        curves: dict[str, list[list[float]]] = {mode: [] for mode in modes}
        for record in found[network["experiment"]]:
            trained, data = trained_network(record)
            pictures, labels = held_out_images(data, about["test"], images)
            for mode in modes:
                changes = [partial(shift, **{axis: amount}, mode=mode) for amount in amounts]
                curves[mode].append([100 * rate for rate in error_rates(trained, pictures, labels, changes)])
        measured[label] = {mode: [fmean(at) for at in zip(*values, strict=True)] for mode, values in curves.items()}
    return measured


def _plot(axes: Any, axis: str, about: Mapping[str, Any], measured: Mapping[str, Any], mode: str) -> None:
    unit = 360 if axis == "hue" else 1
    amounts = [unit * amount for amount in measured["amounts"]]
    step = about["step"] * unit
    for at in np.arange(-np.floor(max(amounts) / step), np.floor(max(amounts) / step) + 1):
        axes.axvline(at * step, color="#D0D0D0", linewidth=5, zorder=0)
    for label, network in about["networks"].items():
        look = LOOKS[network["look"]]
        dash = DASHES[2] if network.get("jittered") else "-"
        fill = "white" if network.get("jittered") else look["color"]
        axes.plot(amounts, measured[label][mode], linestyle=dash, markerfacecolor=fill, markersize=6, label=label, **look)
    axes.set_xlabel(f"{axis} shift" + (" (degrees)" if axis == "hue" else f" ({mode})"))
    axes.set_title(f"{axis}: {about['data']}" if mode == "fold" or axis == "hue" else "", fontsize=13)
    axes.set_ylim(-3, 100)
    if axis == "hue":
        axes.set_xticks([-180, -90, 0, 90, 180])
    else:
        axes.set_xticks([-1, -0.5, 0, 0.5, 1])


def _legend(grid: Any) -> None:
    """One legend per column, below it, because the networks differ between axes."""
    for column in grid.T:
        below = next(axis for axis in reversed(column) if axis.lines)
        below.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize=10.5, handlelength=2.6)
