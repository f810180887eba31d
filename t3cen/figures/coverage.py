"""Coverage: the orbit of every input value, its entropy, the redundant inputs (paper, fig. HTCNN_LiftingHistogram)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from t3cen.analysis.claims import statements
from t3cen.analysis.coverage import distinct_values, most_covered, orbit_values
from t3cen.analysis.entropy import interval_entropy
from t3cen.analysis.redundancy import redundant_values
from t3cen.figures.style import BLACK, DASHES, GREY, RED, SERIES, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    order: int = 4, covers: Sequence[str] = ("triangle", "sine", "half_sine"), pieces: str = "gaps", points: int = 2001
) -> tuple[Figure, dict[str, Any]]:
    """One column per cover: the orbit of each input value above, its entropy below, redundant inputs marked in both.

    Args:
        order: of the saturation or luminance group.
        covers: the covers to compare.
        pieces: which pieces the entropy counts, see `interval_entropy`.
        points: input values between 0 and 1.
    """
    values = torch.linspace(0, 1, points, dtype=torch.float64)
    figure = canvas(4.4 * len(covers) + 0.6, 6.9)
    grid = figure.subplots(2, len(covers), sharex=True, sharey="row", squeeze=False, height_ratios=(1.35, 1))
    numbers: dict[str, Any] = {"order": order, "pieces": pieces}
    for cover, (above, below) in zip(covers, grid.T, strict=True):
        orbit = orbit_values(values, order, cover)
        entropy = interval_entropy(orbit, pieces)
        redundant = redundant_values(order, cover)
        numbers[cover] = _numbers(values, entropy, order, cover, pieces)
        for k in range(order):
            color = BLACK if k == 0 else SERIES[(k - 1) % len(SERIES)]
            label = "input" if k == 0 else f"{k} step{'s' if k > 1 else ''}"
            above.plot(values.numpy(), orbit[:, k].numpy(), color=color, linestyle=DASHES[k % len(DASHES)], label=label)
        below.plot(values.numpy(), entropy.numpy(), color=BLACK)
        for axes in (above, below):
            for value in redundant.tolist():
                axes.axvline(value, color=RED, linewidth=1.4, zorder=0, clip_on=False)
        for value in most_covered(order).tolist():
            below.plot(value, interval_entropy(orbit_values(value, order, cover), pieces).item(), "v", color=GREY, clip_on=False)
        above.set_title(f"{cover.replace('_', '-')} cover")
        below.set_xlabel("input value")
        below.set_xlim(0, 1)
        below.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    grid[1, 0].set_ylim(0, 1.08 * max(numbers[cover]["largest_entropy"] for cover in covers))
    grid[0, 0].set_ylabel("lifted value")
    grid[1, 0].set_ylabel("entropy (nats)")
    figure.suptitle(f"a group of order N = {order}: each input has {order} lifted values")
    _legend(figure, grid)
    return figure, numbers


def _legend(figure: Figure, grid: Any) -> None:
    from matplotlib.lines import Line2D

    handles, labels = grid[0, 0].get_legend_handles_labels()
    handles += [Line2D([], [], color=RED, linewidth=1.4), Line2D([], [], color=GREY, marker="v", linestyle="")]
    figure.legend(handles, [*labels, "redundant input", "k/N − 1/2N"], loc="outside lower center", ncols=len(handles))


def _numbers(values: torch.Tensor, entropy: torch.Tensor, order: int, cover: str, pieces: str) -> dict[str, Any]:
    redundant = redundant_values(order, cover)
    named = most_covered(order)
    return {
        "redundant_inputs": redundant.tolist(),
        "distinct_values_there": distinct_values(orbit_values(redundant, order, cover)).tolist(),
        "largest_entropy": entropy.max().item(),
        "largest_entropy_at": values[entropy >= entropy.max() - 1e-6].tolist(),
        "entropy_at_k/N-1/2N": interval_entropy(orbit_values(named, order, cover), pieces).tolist(),
        "mean_entropy": entropy.mean().item(),
        "statements": [statement._asdict() for statement in statements(cover)],
    }
