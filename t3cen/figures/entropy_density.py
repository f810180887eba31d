"""Entropy density H/N over order and input value, the best order of every value marked (paper, fig. HTCNN_LiftingHeatmap)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from t3cen.analysis.entropy import best_orders, entropy_density
from t3cen.figures.style import MAP, RED, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    max_order: int = 12,
    covers: Sequence[str] = ("triangle", "sine", "half_sine"),
    pieces: str = "gaps",
    bins: int = 100,
    points: int = 2000,
) -> tuple[Figure, dict[str, Any]]:
    """One heat map per cover, orders 2 to `max_order` upwards; the bar at its right is the mean over all values.

    Args:
        max_order: the largest order.
        covers: the covers to compare.
        pieces: which pieces the entropy counts, see `interval_entropy`.
        bins: columns of the heat map, drawn at their middles.
        points: values between 0 and 1 the means are taken over.
    """
    if max_order < 2:
        raise ValueError(f"max_order must be at least 2, got {max_order}: an order of 1 leaves nothing to compare")
    orders = list(range(2, max_order + 1))
    middles = (torch.arange(bins, dtype=torch.float64) + 0.5) / bins
    fine = (torch.arange(points, dtype=torch.float64) + 0.5) / points
    drawn = {cover: entropy_density(middles, orders, cover, pieces) for cover in covers}
    top = max(float(density.max()) for density in drawn.values())
    figure = canvas(5.2 * len(covers) + 0.8, 6)
    grid = figure.subplots(1, 2 * len(covers), squeeze=False, width_ratios=(4, 1) * len(covers))[0]
    numbers: dict[str, Any] = {"pieces": pieces, "orders": orders}
    for column, cover in enumerate(covers):
        heat, bar = grid[2 * column], grid[2 * column + 1]
        image = heat.imshow(
            drawn[cover].numpy(), origin="lower", aspect="auto", extent=(0, 1, 1.5, max_order + 0.5), cmap=MAP, vmin=0, vmax=top
        )
        _mark(heat, best_orders(drawn[cover], orders), bins)
        heat.set_title(f"{cover.replace('_', '-')} cover")
        heat.set_xlabel("input value")
        heat.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
        heat.set_yticks(orders)
        heat.spines[:].set_visible(False)
        mean = entropy_density(fine, orders, cover, pieces).mean(1)
        _bar(bar, mean, orders)
        numbers[cover] = _numbers(entropy_density(fine, orders, cover, pieces), orders)
    grid[0].set_ylabel("order N")
    figure.colorbar(image, ax=list(grid), label="entropy density H/N (nats)", pad=0.015, fraction=0.03)
    return figure, numbers


def _mark(axes: Any, best: torch.Tensor, bins: int) -> None:
    """A red box around the best order of each value; neighbours with the same best order share one."""
    from matplotlib.patches import Rectangle

    start = 0
    for at in range(1, bins + 1):
        if at == bins or best[at] != best[start]:
            box = (start / bins, float(best[start]) - 0.5)
            axes.add_patch(Rectangle(box, (at - start) / bins, 1, fill=False, edgecolor=RED, linewidth=2, clip_on=False))
            start = at


def _bar(axes: Any, mean: torch.Tensor, orders: Sequence[int]) -> None:
    highest = int(mean.argmax())
    colors = [RED if at == highest else "#B0B0B0" for at in range(len(orders))]
    axes.barh(orders, mean.tolist(), color=colors, height=0.8)
    axes.set_ylim(1.5, orders[-1] + 0.5)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.spines[:].set_visible(False)
    for order, value in zip(orders, mean.tolist(), strict=True):
        axes.text(
            0.05 * float(mean.max()),
            order,
            f"{value:.3f}"[1:],
            va="center",
            fontsize=11,
            color="white" if order == orders[highest] else "black",
        )
    axes.set_xlabel("mean")


def _numbers(density: torch.Tensor, orders: Sequence[int]) -> dict[str, Any]:
    mean = density.mean(1)
    best = best_orders(density, orders)
    return {
        "mean_density": mean.tolist(),
        "highest_mean_at_order": orders[int(mean.argmax())],
        "order_4_relative_to_highest": (mean[orders.index(4)] / mean.max()).item() if 4 in orders else None,
        "share_of_values_with_best_order": {str(n): (best == n).double().mean().item() for n in orders},
    }
