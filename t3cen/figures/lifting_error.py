"""Lifting error: an image shifted down in saturation and up again, T3CEN and LCER (paper, fig. HTCNN_LiftingError)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from t3cen.analysis.restoration import LEVELS, lifting_error
from t3cen.figures.style import LABELS, MAP, canvas, scientific, show_image
from t3cen.groups import ColorGroup
from t3cen.nn import HSLLifting, LCERLifting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = {"t3cen": 6.33e-6, "lcer": 8.65}


def draw(images: Tensor, amount: float = 0.75, order: int = 5, shown: int = 0) -> tuple[Figure, dict[str, Any]]:
    """One row per method: input, shifted down, shifted up again, and what is lost, in 8-bit levels.

    Args:
        images: `(B, 3, H, W)`, RGB in [0, 1]; the printed errors are means over all of them.
        amount: of the shift, in units of saturation.
        order: of the saturation group, odd because of LCER.
        shown: which image is drawn.
    """
    group = ColorGroup(saturation=order)
    # LCER as published: 8-bit HSV, clipped. On equal terms both are in float HSL, the shifted image stored or not.
    liftings = {"t3cen": HSLLifting(group), "lcer": LCERLifting(group, mode="pil8")}
    figure = canvas(11.5, 6.2)
    grid = figure.subplots(2, 4)
    numbers: dict[str, Any] = {"amount": amount, "order": order, "images": len(images)}
    losses = {}
    for (name, lifting), row in zip(liftings.items(), grid, strict=True):
        result = lifting_error(lifting, images, amount)
        numbers[name] = {"error_8bit": result.error, "published": PUBLISHED[name]}
        for axes, image in zip(row, (images, result.shifted, result.restored), strict=False):
            show_image(axes, image[shown])
        losses[name] = (result.restored[shown] - images[shown]).abs().mean(0) * LEVELS
        row[0].set_ylabel(LABELS[name] + (" (8-bit HSV)" if name == "lcer" else ""), fontsize=15)
        row[3].set_xlabel(f"mean {scientific(result.error)} levels\n(paper {scientific(PUBLISHED[name])})")
    rows = {"published": {name: numbers[name]["error_8bit"] for name in PUBLISHED}}
    for row, through_image in (("float", False), ("image", True)):
        equal = {"t3cen": liftings["t3cen"], "lcer": LCERLifting(group)}
        rows[row] = {name: lifting_error(one, images, amount, through_image=through_image).error for name, one in equal.items()}
    numbers["on_equal_terms"] = {row: rows[row] for row in ("float", "image")}
    cells = {f"lifting/{row}/{name}": error for row, errors in rows.items() for name, error in errors.items()}
    numbers["tables"] = {"equivariance_error": cells}
    _losses(figure, grid[:, 3], list(losses.values()))
    titles = ("input", f"saturation − {amount:g}", f"then + {amount:g}", "difference")
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(title)
    return figure, numbers


def _losses(figure: Figure, column: Any, losses: list[Tensor]) -> None:
    top = max(1.0, *(float(loss.max()) for loss in losses))
    for axes, loss in zip(column, losses, strict=True):
        image = axes.imshow(loss.numpy(), cmap=MAP, vmin=0, vmax=top)
        axes.set_xticks([])
        axes.set_yticks([])
    figure.colorbar(image, ax=list(column), label="difference (8-bit levels)", shrink=0.85)
