"""Saturation equivariance error against order, T3CEN and LCER (paper, fig. HTCNN_LCERLiftingErrorCard)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from torch import Tensor

from t3cen.analysis.commutation import commutation_error
from t3cen.figures.networks import network
from t3cen.figures.style import BLUE, DASHES, NETWORKS, canvas, percent, scientific

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = {"t3cen": 4.66e-6, "lcer": 0.445}
ONE_STEP_DOWN = (0, -1, 0)


def draw(
    images: Tensor,
    orders: Sequence[int] = (3, 5, 7, 9, 11, 15),
    backbone: str = "resnet44",
    width: int | None = None,
    seed: int = 0,
) -> tuple[Figure, dict[str, Any]]:
    """The error of one step down in saturation, on angles and through an image, for untrained networks of each order.

    Args:
        images: `(B, 3, H, W)`, RGB in [0, 1].
        orders: of the saturation group; odd, because LCER has no others. One step of LCER is a shift of `1/(M-1)`, one of
            T3CEN `2/M`.
        backbone, width: of the networks, see `t3cen.models.build`.
        seed: of their weights.
    """
    numbers: dict[str, Any] = {"orders": list(orders), "backbone": backbone, "weights": "random weights", "images": len(images)}
    for family in ("t3cen", "lcer"):
        measured = []
        for order in orders:
            made, _ = network(backbone, f"s{order}", family=family, width=width, seed=seed)
            measured.append(
                commutation_error(made.lifting, made.trunk, images, ONE_STEP_DOWN, translated=family == "lcer").as_dict()
            )
        numbers[family] = {key: [one[key] for one in measured] for key in measured[0]}
        numbers[family]["mean_on_angles"] = fmean(numbers[family]["angles"])
        numbers[family]["mean_through_image"] = fmean(numbers[family]["image"])
        numbers[family]["published_mean"] = PUBLISHED[family]
    numbers["tables"] = {
        "equivariance_error": {f"saturation_equivariance/{family}": numbers[family]["mean_on_angles"] for family in PUBLISHED}
    }
    return _figure(numbers), numbers


def _figure(numbers: dict[str, Any]) -> Figure:
    orders = numbers["orders"]
    figure = canvas(10.5, 5.6)
    axes = figure.subplots()
    t3cen, lcer = numbers["t3cen"], numbers["lcer"]
    through = {**NETWORKS["t3cen"], "linestyle": DASHES[2], "markerfacecolor": "white"}
    axes.semilogy(orders, lcer["angles"], **NETWORKS["lcer"])
    axes.semilogy(orders, t3cen["image"], **through)
    axes.semilogy(orders, t3cen["angles"], **NETWORKS["t3cen"])
    for order, error, share in zip(orders, t3cen["image"], t3cen["sheet_changes"], strict=True):
        if error > 0:
            axes.annotate(percent(share), (order, error), (0, -10), textcoords="offset points", ha="center", va="top", color=BLUE)
    # Labels stand at the ends of their lines, so that nobody has to look up a legend.
    ends = {
        "lcer": (f"LCER\nmean {scientific(lcer['mean_on_angles'])} (paper 0.445)", lcer["angles"][-1]),
        "image": ("T³CEN through an image\n(% of pixels change sheet)", t3cen["image"][-1]),
        "angles": (f"T³CEN on angles\nmean {scientific(t3cen['mean_on_angles'])}\n(paper 4.7 × 10⁻⁶)", t3cen["angles"][-1]),
    }
    for (name, (text, height)), color in zip(ends.items(), (NETWORKS["lcer"]["color"], BLUE, BLUE), strict=True):
        va = "bottom" if name != "image" else "center"
        axes.annotate(
            text,
            (orders[-1], height),
            (30 if name == "image" else 12, -8),
            textcoords="offset points",
            va=va,
            color=color,
            annotation_clip=False,
        )
    axes.set_xticks(orders)
    axes.set_xlabel("order of the saturation group")
    axes.set_ylabel("normalised equivariance error")
    axes.set_title(f"One step down in saturation ({numbers['backbone']}, {numbers['weights']})", loc="left")
    axes.margins(x=0.07)
    return figure
