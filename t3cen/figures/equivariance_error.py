"""Saturation equivariance error against order, T3CEN and LCER (paper, fig. HTCNN_LCERLiftingErrorCard)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from torch import Tensor

from t3cen.analysis.commutation import commutation_error, steps_of
from t3cen.figures.networks import network
from t3cen.figures.style import BLUE, DASHES, NETWORKS, SKY, canvas, percent, scientific

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = {"t3cen": 4.66e-6, "lcer": 0.445}
ONE_STEP_DOWN = (0, -1, 0)
SATURATION = 1
SHIFTS = ("printed", "own")


def draw(
    images: Tensor,
    orders: Sequence[int] = (3, 5, 7, 9, 11, 15),
    backbone: str = "resnet44",
    width: int | None = None,
    seed: int = 0,
) -> tuple[Figure, dict[str, Any]]:
    """The error of saturation lowered by `1/(M-1)` and by one own step, on angles and through an image, untrained networks.

    Args:
        images: `(B, 3, H, W)`, RGB in [0, 1].
        orders: M of the saturation group; odd, because LCER has no others. The printed shift, `1/(M-1)`, is one step of LCER;
            one of T3CEN is `2/M`. Features are moved by one step in either case.
        backbone, width: of the networks, see `t3cen.models.build`.
        seed: of their weights.
    """
    numbers: dict[str, Any] = {"orders": list(orders), "backbone": backbone, "weights": "random weights", "images": len(images)}
    for family in ("t3cen", "lcer"):
        found: dict[str, list[dict[str, float]]] = {shift: [] for shift in SHIFTS}
        for order in orders:
            made, _ = network(backbone, f"s{order}", family=family, width=width, seed=seed)
            printed = steps_of(made.lifting, SATURATION, -1 / (order - 1))
            for shift, moved in zip(SHIFTS, (printed, ONE_STEP_DOWN), strict=True):
                error = commutation_error(
                    made.lifting, made.trunk, images, ONE_STEP_DOWN, moved=moved, translated=family == "lcer"
                )
                found[shift].append(error.as_dict())
        numbers[family] = {shift: {key: [one[key] for one in all_] for key in all_[0]} for shift, all_ in found.items()}
        for values in numbers[family].values():
            values |= {"mean_on_angles": fmean(values["angles"]), "mean_through_image": fmean(values["image"])}
        numbers[family]["published_mean"] = PUBLISHED[family]
    numbers["tables"] = {
        "equivariance_error": {
            f"{shift}/{row}/{family}": numbers[family][shift][mean]
            for family in PUBLISHED
            for shift in SHIFTS
            for row, mean in (("angles", "mean_on_angles"), ("image", "mean_through_image"))
        }
        | {
            f"falls/angles/{family}": numbers[family]["printed"]["angles"][0] - numbers[family]["printed"]["angles"][-1]
            for family in PUBLISHED
        }
    }
    return _figure(numbers), numbers


def _figure(numbers: dict[str, Any]) -> Figure:
    orders = numbers["orders"]
    figure = canvas(11.5, 6)
    axes = figure.subplots()
    t3cen, lcer = numbers["t3cen"], numbers["lcer"]
    own, printed = t3cen["own"], t3cen["printed"]
    through = {**NETWORKS["t3cen"], "linestyle": DASHES[2], "markerfacecolor": "white"}
    axes.semilogy(orders, lcer["printed"]["angles"], **NETWORKS["lcer"])
    axes.semilogy(orders, printed["angles"], **{**NETWORKS["t3cen"], "color": SKY, "marker": "D"})
    axes.semilogy(orders, own["image"], **through)
    axes.semilogy(orders, own["angles"], **NETWORKS["t3cen"])
    for order, error, share in zip(orders, own["image"], own["sheet_changes"], strict=True):
        if error > 0:
            side = "right" if order == orders[-1] else "center"  # at the end of the line stands its label
            axes.annotate(percent(share), (order, error), (0, -10), textcoords="offset points", ha=side, va="top", color=BLUE)
    # Labels stand at the ends of their lines, so that nobody has to look up a legend.
    ends = (
        (
            f"LCER, 1/(M−1)\nmean {scientific(lcer['printed']['mean_on_angles'])} (paper 0.445)",
            lcer["printed"]["angles"],
            NETWORKS["lcer"]["color"],
        ),
        (f"T³CEN, 1/(M−1), on angles\nmean {scientific(printed['mean_on_angles'])} (paper 4.7 × 10⁻⁶)", printed["angles"], SKY),
        (
            f"T³CEN, 2/M, through an image\nmean {scientific(own['mean_through_image'])}\n(% of pixels change sheet)",
            own["image"],
            BLUE,
        ),
        (f"T³CEN, 2/M, on angles\nmean {scientific(own['mean_on_angles'])}", own["angles"], BLUE),
    )
    for text, heights, color in ends:
        axes.annotate(
            text, (orders[-1], heights[-1]), (14, 0), textcoords="offset points", va="center", color=color, annotation_clip=False
        )
    axes.set_xticks(orders)
    axes.set_xlabel("M, order of the saturation group")
    axes.set_ylabel("normalised equivariance error")
    axes.set_title(f"Saturation lowered by 1/(M−1) or 2/M ({numbers['backbone']}, {numbers['weights']})", loc="left")
    axes.margins(x=0.07)
    return figure
