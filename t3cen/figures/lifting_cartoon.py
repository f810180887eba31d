"""An image lifted along hue, saturation and luminance, by T3CEN and by LCER (paper, fig. HTCNN_LiftingCartoon)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from t3cen.figures.style import BLACK, LABELS, RED, canvas, show_image
from t3cen.groups import ColorGroup
from t3cen.nn import HSLLifting, LCERLifting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ("hue", "saturation", "luminance")


def draw(
    images: Tensor, order: int = 4, lcer_order: int = 3, cover: str = "triangle", shown: int = 0
) -> tuple[Figure, dict[str, Any]]:
    """One row per axis: the image of every group element, T3CEN at the left, LCER at the right; the input itself is framed.

    Args:
        images: `(B, 3, H, W)`, RGB in [0, 1].
        order: of T3CEN's groups, and of LCER's hue group.
        lcer_order: of LCER's saturation and luminance groups, odd.
        cover: T3CEN's.
        shown: which image is drawn.
    """
    rgb = images[shown : shown + 1]
    figure = canvas(1.75 * (order + max(order, lcer_order)) + 1.4, 6.2)
    columns = max(order, lcer_order)
    panels: Any = figure.subfigures(1, 2, width_ratios=(order, columns), wspace=0.05)
    numbers: dict[str, Any] = {"cover": cover}
    for method, panel in zip(("t3cen", "lcer"), panels, strict=True):
        grid = panel.subplots(3, order if method == "t3cen" else columns, squeeze=False)
        panel.suptitle(LABELS[method], fontsize=17)
        numbers[method] = {}
        for place, (axis, row) in enumerate(zip(AXES, grid, strict=True)):
            count = lcer_order if method == "lcer" and axis != "hue" else order
            group = ColorGroup(**{axis: count})
            lifting = HSLLifting(group, cover) if method == "t3cen" else LCERLifting(group)
            lifted = lifting(rgb)[0]
            middle = count // 2 if method == "lcer" and axis != "hue" else 0
            _row(row, lifted, middle, [_label(method, axis, place, g - middle, count, lifting) for g in range(count)])
            if method == "t3cen":
                row[0].set_ylabel(axis, fontsize=15)
            numbers[method][axis] = {
                "order": count,
                "input_at": middle,
                "input_error": (lifted[middle] - rgb[0]).abs().max().item(),
                "changed_pixels": [(image - rgb[0]).abs().amax(0).gt(1 / 255).double().mean().item() for image in lifted],
                "roll_error": _roll_error(lifting, rgb, place),
            }
    return figure, numbers


def _row(row: Any, lifted: Tensor, middle: int, labels: list[str]) -> None:
    for axes in row[len(lifted) :]:
        axes.set_axis_off()
    for g, (axes, image, label) in enumerate(zip(row, lifted, labels, strict=False)):
        show_image(axes, image)
        axes.set_xlabel(label)
        if g == middle:
            axes.spines[:].set(visible=True, color=BLACK, linewidth=3)
        elif label.endswith("clipped"):
            axes.xaxis.label.set_color(RED)


def _label(method: str, axis: str, place: int, steps: int, order: int, lifting: Any) -> str:
    if steps == 0:
        return "input"
    if axis == "hue":
        return f"+{360 * steps / order:.0f}°"
    if method == "lcer":
        return f"{lifting.offset(place, steps):+.2g} clipped".replace("-", "−")
    return f"{steps}/{order} turn"


def _roll_error(lifting: Any, rgb: Tensor, place: int) -> float:
    """How far the lifted image of one step is from the rolled lifted image: 0 where the lifting is a function on a group."""
    element = tuple(int(at == place) for at in range(3))
    angles = lifting.encode(rgb)
    shifted = lifting.lift(lifting.act(angles, element))
    return torch.sub(shifted, lifting.group.act(lifting.lift(angles), element)).abs().max().item()
