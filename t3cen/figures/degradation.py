"""Accuracy and width against the order of the hue group on hue-shift MNIST (paper, fig. HTCNN_LiftingDegradation)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from t3cen.experiments.schema import get_table
from t3cen.figures.finished_runs import Runs
from t3cen.figures.style import BLACK, BLUE, RED, canvas
from t3cen.models.widths import fixed_parameters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "mnist_degradation"
BASE_WIDTH = 20  # Z2CNN's


def draw(
    runs: Runs, orders: Sequence[int] = tuple(range(1, 21)), seeds: Sequence[int] = (1999, 2000, 2001)
) -> tuple[Figure, dict[str, Any]]:
    """At the left the accuracy with its spread over seeds, at the right the channels of the last feature map.

    Args:
        runs: where the runs of the table `mnist_degradation` are found or trained.
        orders: from 1 to 20.
        seeds: of the runs.
    """
    names = {order: "mnist_z2cnn" if order == 1 else f"mnist_h{order}" for order in orders}
    found = runs.get(list(names.values()), seeds)
    accuracies = {order: [_accuracy(record) for record in found[name]] for order, name in names.items()}
    means = {order: fmean(values) for order, values in accuracies.items()}
    channels = {order: fixed_parameters([BASE_WIDTH], order)[0] for order in orders}
    published = {order: float(cell) for order, cell in _published().items() if order in orders}
    first = next(iter(found.values()))[0]
    numbers: dict[str, Any] = {
        "accuracy_percent": {str(order): values for order, values in accuracies.items()},
        "mean": {str(order): mean for order, mean in means.items()},
        "sd": {str(order): stdev(values) if len(values) > 1 else None for order, values in accuracies.items()},
        "highest_at_order": max(means, key=lambda order: means[order]),
        "channels": {str(order): count for order, count in channels.items()},
        "published_accuracy": {str(order): value for order, value in published.items()},
        "runs": runs.caption(seeds, first.source),
    }
    figure = canvas(13, 5)
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    places = list(orders)
    spread = [numbers["sd"][str(order)] or 0 for order in orders]
    handles: list[Any] = [left.errorbar(places, list(means.values()), spread, color=BLUE, marker="o", capsize=4, label="ours")]
    highest = numbers["highest_at_order"]
    circle = {"markersize": 16, "markerfacecolor": "none", "color": RED, "markeredgewidth": 2, "label": "highest"}
    handles += left.plot(highest, means[highest], "o", **circle)
    if published:
        paper = {"color": BLACK, "markerfacecolor": "white", "zorder": 4, "label": "printed in the paper"}
        handles += left.plot(list(published), list(published.values()), "D", **paper)
    left.set_xlabel("order of the hue group")
    left.set_ylabel("accuracy on unseen hues (%)")
    left.set_ylim(top=100)
    left.legend(handles=handles)
    left.set_title(numbers["runs"], loc="left", fontsize=12)
    right.step(places, [channels[o] for o in orders], where="mid", color=BLACK)
    right.plot(places, [channels[o] for o in orders], "o", color=BLACK)
    right.set_xlabel("order of the hue group")
    right.set_ylabel("channels of the last map")
    right.set_ylim(0, BASE_WIDTH + 1)
    right.set_yticks(range(0, BASE_WIDTH + 1, 5))
    for axes in (left, right):
        axes.set_xticks([o for o in orders if o == 1 or o % (2 if len(places) < 12 else 4) == 0])
    return figure, numbers


def _accuracy(record: Any) -> float:
    values = record.tests["shift"]
    return 100 * values["correct"] / values["total"]


def _published() -> dict[int, str]:
    """Accuracies the paper prints, by order."""
    printed: dict[int, str] = {}
    for _, row, column, cell in get_table(TABLE).cells():
        order = 1 if row.name == "z2cnn" else int(row.name.removeprefix("h"))
        if cell is not None and column.label == "Accuracy":
            printed[order] = cell
        if cell is not None and column.label == "Error":
            printed.setdefault(order, str(round(100 - float(cell), 2)))
    return printed
