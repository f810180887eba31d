"""Error against a continuous shift of hue, saturation and luminance: what equivariance buys, and where it ends (ours)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from t3cen.data.shifts import shift
from t3cen.experiments import plain_json
from t3cen.figures.finished_runs import Runs, error_rates, held_out_images, trained_network
from t3cen.figures.style import BLACK, BLUE, DASHES, GREEN, ORANGE, SKY, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = "#D8D8D8"
LOOKS = {
    "plain": {"color": BLACK, "marker": "X"},
    "lcer": {"color": ORANGE, "marker": "s"},
    "t3cen": {"color": BLUE, "marker": "o"},
    "t3cen_high": {"color": SKY, "marker": "^"},
    "continuous": {"color": GREEN, "marker": "D"},
}
WIDE = 3
"""Panels beside each other."""


def draw(
    runs: Runs,
    axes: Mapping[str, Mapping[str, Any]],
    seeds: Sequence[int] = (1999,),
    images: int = 200,
    points: int = 17,
    modes: Sequence[str] = ("fold", "clip"),
    numbers: str | None = None,
) -> tuple[Figure, dict[str, Any]]:
    """A panel for each axis and each way the ends of its range are treated (hue has none); dotted and hollow where jittered.

    Args:
        runs: where the runs are found or trained.
        axes: by axis, `data` (above its panels), `test` (the unshifted test set), `step` (of the group whose steps are
            marked, in turns or units of the value) and `networks`: by label, an `experiment` (with settings after blanks), the
            `look` of its line and whether it is `jittered`.
        seeds: of the runs; curves are means over them.
        images: of the test set.
        points: shifts on each axis, from -1/2 to 1/2 turn of hue and from -1 to 1 otherwise.
        modes: `fold`, `clip` or `scale`, see `t3cen.data.shifts`.
        numbers: the JSON file of an earlier drawing, whose numbers are drawn again; nothing is measured then.
    """
    measured: dict[str, Any] = (
        plain_json.read(Path(numbers))["numbers"] if numbers else _numbers(runs, axes, seeds, images, points, modes)
    )
    return _figure(measured, axes), measured


def _numbers(
    runs: Runs, axes: Mapping[str, Mapping[str, Any]], seeds: Sequence[int], images: int, points: int, modes: Sequence[str]
) -> dict[str, Any]:
    wanted = [network["experiment"] for axis in axes.values() for network in axis["networks"].values()]
    found = runs.get(wanted, seeds)
    numbers: dict[str, Any] = {"runs": runs.caption(seeds, found[wanted[0]][0].source)}
    for axis, about in axes.items():
        numbers[axis] = _measure(axis, about, found, images, points, modes if axis != "hue" else modes[:1])
    return numbers


def _figure(numbers: Mapping[str, Any], axes: Mapping[str, Mapping[str, Any]]) -> Figure:
    from matplotlib.patches import Patch

    panels = [(axis, mode) for axis in axes for mode in next(iter(_curves(numbers, axis, axes[axis]).values()))]
    wide = min(WIDE, len(panels) + 1)
    rows = -(-(len(panels) + 1) // wide)  # the last place is the legend's
    figure = canvas(5.0 * wide, 3.9 * rows + 0.5)
    places = list(figure.subplots(rows, wide, squeeze=False, sharey=True).flat)
    lines: dict[str, Any] = {}
    for place, (axis, mode) in zip(places, panels, strict=False):
        _plot(place, axis, axes[axis], numbers[axis], mode)
        for line, label in zip(*place.get_legend_handles_labels(), strict=True):
            like = lines.setdefault(_kind(label), line)
            if like.get_color() != line.get_color():  # another network of its kind, as T³CEN-L8 beside T³CEN-L4
                lines.setdefault(label, line)
    empty = places[len(panels) :]
    for place in empty:
        place.set_axis_off()
    lines["steps of the group"] = Patch(color=STEP)
    empty[0].legend(lines.values(), lines.keys(), loc="center", handlelength=3, labelspacing=0.8)
    figure.suptitle(numbers["runs"], fontsize=12)
    return figure


def _curves(numbers: Mapping[str, Any], axis: str, about: Mapping[str, Any]) -> dict[str, Mapping[str, Sequence[float]]]:
    return {label: numbers[axis][label] for label in about["networks"]}


def _kind(label: str) -> str:
    """A label without its group, so that one line of the legend is for all axes: `T³CEN-H4 + jitter` is `T³CEN + jitter`."""
    return re.sub(r"-[HSL]\d+", "", label)


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
        axes.axvline(at * step, color=STEP, linewidth=5, zorder=0)
    for place, (label, network) in enumerate(about["networks"].items()):
        look = LOOKS[network["look"]]
        dash = DASHES[2] if network.get("jittered") else "-"
        fill = "white" if network.get("jittered") else look["color"]
        # Markers of equal curves stand beside each other, so that none is hidden.
        every = (place % 3, 3) if place < 3 else (place % 3, 5)
        axes.plot(
            amounts,
            measured[label][mode],
            linestyle=dash,
            markerfacecolor=fill,
            markersize=6.5,
            markevery=every,
            linewidth=1.8,
            label=label,
            clip_on=False,
            **look,
        )
    group = f"step {step:.0f}°" if axis == "hue" else f"step {step:g}"
    axes.set_title(f"{axis}: {about['data']}, {group}", fontsize=13, loc="left")
    axes.set_xlabel("hue shift (degrees)" if axis == "hue" else f"{axis} shift (ends: {mode})")
    axes.set_ylabel("error (%)")
    axes.tick_params(labelleft=True)
    axes.set_ylim(-4, 100)
    axes.set_xticks([-180, -90, 0, 90, 180] if axis == "hue" else [-1, -0.5, 0, 0.5, 1])
