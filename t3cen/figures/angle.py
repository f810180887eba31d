"""Error against the angle between training and test hues: where T3CEN overtakes ResNet44 (paper, tab:exp_fail_dist)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from t3cen.data.shifts import shift
from t3cen.experiments.schema import get_table
from t3cen.figures.finished_runs import Runs, error_rates, held_out_images, trained_network
from t3cen.figures.style import GREY, NETWORKS, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "mnist_angle"
METHODS = {"t3cen": ("h4", "T³CEN-H4"), "plain": ("resnet44", "ResNet44")}
ORDER = 4


def draw(
    runs: Runs,
    angles: Sequence[float] = (0, 5, 10, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165, 180),
    seeds: Sequence[int] = (1999, 2000, 2001),
    images: int = 1000,
) -> tuple[Figure, dict[str, Any]]:
    """Both networks, trained once a seed (training does not depend on the angle), on test digits turned by each angle.

    Args:
        runs: where the runs `mnist_angle0_h4` and `mnist_angle0_resnet44` are found or trained.
        angles: degrees that the test hues are turned by.
        seeds: of the runs.
        images: test digits.
    """
    found = runs.get([f"mnist_angle0_{name}" for name, _ in METHODS.values()], seeds)
    curves: dict[str, list[list[float]]] = {}
    for method, (name, _) in METHODS.items():
        curves[method] = []
        for record in found[f"mnist_angle0_{name}"]:
            network, data = trained_network(record)
            pictures, labels = held_out_images(data, "in", images)
            turns = [partial(shift, hue=angle / 360) for angle in angles]
            curves[method].append([100 * rate for rate in error_rates(network, pictures, labels, turns)])
    means = {method: [fmean(at) for at in zip(*values, strict=True)] for method, values in curves.items()}
    first = next(iter(found.values()))[0]
    numbers: dict[str, Any] = {
        "angles": list(angles),
        "error_percent": curves,
        "mean": means,
        "overtaken_at": next((a for a, t, p in zip(angles, means["t3cen"], means["plain"], strict=True) if t < p), None),
        "published_error": _published(),
        "backbone": first.config["backbone"],
        "runs": runs.caption(seeds, first.source),
    }
    return _figure(numbers), numbers


def _figure(numbers: dict[str, Any]) -> Figure:
    figure = canvas(11, 5.6)
    axes = figure.subplots()
    handles: list[Any] = []
    angles = numbers["angles"]
    for step in range(0, int(max(angles)) + 1, 360 // ORDER):
        axes.axvline(step, color="#D0D0D0", linewidth=6, zorder=0)
    here = numbers["backbone"].replace("resnet", "ResNet")
    for method, (_, label) in METHODS.items():
        own = label if method == "t3cen" or label == here else f"{label} (here {here})"
        values = list(zip(*numbers["error_percent"][method], strict=True))
        spread = [stdev(at) if len(at) > 1 else 0 for at in values]
        look = NETWORKS[method]
        handles.append(axes.errorbar(angles, numbers["mean"][method], spread, capsize=3, **look, label=own))
        known = numbers["published_error"][method]
        paper = {"color": look["color"], "markerfacecolor": "white", "zorder": 4, "label": f"{label}, paper"}
        handles += axes.plot(known.keys(), known.values(), "D", **paper)
    axes.set_xlabel("angle between training and test hues (degrees; grey: steps of the group)")
    axes.set_ylabel("error (%)")
    axes.set_ylim(bottom=0)
    axes.set_xticks([a for a in angles if a % 45 == 0 or a == 15])
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    if numbers["overtaken_at"] is not None:
        axes.annotate(
            f"T³CEN-H4 is ahead from {numbers['overtaken_at']:g}°", (0.08, 0.96), xycoords="axes fraction", va="top", color=GREY
        )
    axes.set_title(numbers["runs"], loc="left", fontsize=12)
    return figure


def _published() -> dict[str, dict[float, float]]:
    """The paper's errors by method and angle."""
    rows = {name: method for method, (name, _) in METHODS.items()}
    known: dict[str, dict[float, float]] = {method: {} for method in METHODS}
    for _, row, column, cell in get_table(TABLE).cells():
        if cell is not None:
            known[rows[row.name]][float(column.set["data.angle"])] = round(100 - float(cell.strip("*_")), 2)
    return known
