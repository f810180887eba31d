"""Feature maps of an image and of its shifted version, the permutation drawn between them (paper, fig. HTCNN_FeatureMap*)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from t3cen.analysis.clipped import ClippedLifting
from t3cen.analysis.commutation import commutation_error, steps_of, translate
from t3cen.analysis.downsampling import downsampling_errors
from t3cen.figures.networks import first_stage, network
from t3cen.figures.style import BLUE, GREY, LABELS, MAP, RED, canvas, percent, scientific, show_image
from t3cen.models.network import Network

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ("hue", "saturation", "luminance", "red", "green", "blue", "scale")
TABLE = "scale_downsampling"
LCERS_WAY = "LCER's way"  # where LCER itself has no such group


def draw(
    images: Tensor,
    axis: str,
    amount: float,
    orders: Mapping[str, int],
    backbone: str = "resnet18",
    width: int | None = 16,
    seed: int = 0,
    checkpoints: Mapping[str, str | None] | None = None,
    shown: int = 0,
) -> tuple[Figure, dict[str, Any]]:
    """T3CEN at the left, LCER at the right; above, the maps of every group element; below, those of the shifted image.

    Lines lead from each map to the place where the group's action puts it; below each panel stands the commutation error.

    Args:
        images: `(B, 3, H, W)`, RGB in [0, 1]; the errors are means over all of them.
        axis: `hue`, `saturation`, `luminance`, `red`, `green`, `blue` or `scale`.
        amount: of the shift: in turns for hue, otherwise in units of the value.
        orders: of the two groups, `{"t3cen": 4, "lcer": 3}`; the amount must be a whole number of steps of both.
        backbone, width: of the networks, see `t3cen.models.build`; maps are those of a ResNet's first stage.
        seed: of their random weights.
        checkpoints: `final.ckpt` files of runs of such networks to take the weights from instead, by method.
        shown: which image is drawn.
    """
    if axis not in AXES:
        raise ValueError(f"axis must be one of {', '.join(AXES)}, got {axis!r}")
    numbers: dict[str, Any] = {"axis": axis, "amount": amount, "backbone": backbone, "images": len(images)}
    size = f"{360 * amount:+.0f}°" if axis == "hue" else f"{amount:+g}"
    numbers["shift"] = what = f"{axis} {size}".replace("-", "−")
    figure = canvas(1.6 * (sum(orders.values()) + 2.4), 5.6)
    panels: Any = figure.subfigures(1, 2, width_ratios=[order + 1.2 for order in orders.values()], wspace=0.06)
    for panel, (method, order) in zip(panels, orders.items(), strict=True):
        made, weights = _network(method, axis, order, backbone, width, seed, (checkpoints or {}).get(method))
        place = AXES.index(axis) % 3 if axis != "scale" else 0
        steps = steps_of(made.lifting, place, amount)
        whole = tuple(round(step) for step in steps)
        if max(abs(a - b) for a, b in zip(steps, whole, strict=True)) > 1e-6:
            raise ValueError(f"a shift of {amount} in {axis} is {steps[place]:.4g} steps at order {order} of {method}, not whole")
        measured = commutation_error(made.lifting, first_stage(made), images, whole, translated=method == "lcer")
        numbers[method] = {"order": order, "steps": whole[place], "weights": weights, **measured.as_dict()}
        if axis == "scale":
            act = translate(made.lifting.group) if method == "lcer" else made.lifting.group.act
            errors = downsampling_errors(made.lifting, first_stage(made), images, act)
            numbers[method] |= {"downsampled_by_element": errors}
        name = LCERS_WAY if method == "lcer" and axis not in AXES[:3] else LABELS[method]
        title = f"{name}, {axis} order {order} ({weights})"
        cyclic = method == "t3cen" or axis == "hue"
        _panel(panel, made, images[shown : shown + 1], whole, place, cyclic=cyclic, titles=(title, "input", what))
        panel.supxlabel(_caption(numbers[method]), fontsize=13)
    if axis == "scale":
        numbers["tables"] = {TABLE: {name: value for method in orders for name, value in _cells(method, numbers[method]).items()}}
    return figure, numbers


def _cells(method: str, found: Mapping[str, Any]) -> dict[str, float]:
    errors = found["downsampled_by_element"]
    values = {"own": found["angles"], "best": min(errors), "best_element": errors.index(min(errors)), "identity": errors[0]}
    return {f"{method}/{column}": float(value) for column, value in values.items()}


def _network(
    method: str, axis: str, order: int, backbone: str, width: int | None, seed: int, checkpoint: str | None
) -> tuple[Network, str]:
    """A network on the group of one axis, in T3CEN's or LCER's way."""
    place = AXES.index(axis) % 3 if axis != "scale" else 1
    name = f"{'hsl'[place]}{order}"
    if axis in AXES[:3]:
        return network(backbone, name, family=method, width=width, seed=seed, checkpoint=checkpoint)
    covered = "t3cen_scale" if axis == "scale" else "t3cen_rgb"
    if method == "t3cen":
        return network(backbone, name, family=covered, width=width, seed=seed, checkpoint=checkpoint)
    # LCER has no such group. Its layers on a saturation axis of this order, and its clipping for the lifting, are its way there.
    made, weights = network(backbone, f"s{order}", family="lcer", width=width, seed=seed, checkpoint=checkpoint)
    other, _ = network(backbone, name, family=covered, width=width, seed=seed)
    made.lifting = ClippedLifting(other.lifting, first=3 if axis == "scale" else 0)
    return made, weights


def _caption(numbers: Mapping[str, Any]) -> str:
    lines = f"commutation error {scientific(numbers['angles'])}"
    if numbers["sheet_changes"] or numbers["hue_losses"]:
        lines += f"\nthrough an image {scientific(numbers['image'])}; {percent(numbers['sheet_changes'])} of pixels change sheet"
    else:
        lines += f"\nthrough an image {scientific(numbers['image'])}"
    return lines


@torch.no_grad()
def _panel(
    panel: Any, made: Network, rgb: Tensor, steps: tuple[int, ...], place: int, *, cyclic: bool, titles: tuple[str, str, str]
) -> None:
    from matplotlib.patches import ConnectionPatch

    lifting: Any = made.lifting
    angles = lifting.encode(rgb)
    moved = lifting.act(angles, steps)
    maps = first_stage(made)
    before, after = (maps(lifting.lift(a))[0] for a in (angles, moved))  # (G, C, H, W)
    channel = int(before.var(dim=(0, 2, 3)).argmax())
    order = len(before)
    grid = panel.subplots(2, order + 1, width_ratios=[1.15] + [1] * order, gridspec_kw={"hspace": 0.25, "wspace": 0.06})
    low, high = before[:, channel].min().item(), max(before[:, channel].max().item(), after[:, channel].max().item())
    for row, (image, features) in enumerate(((rgb, before), (lifting.decode(moved), after))):
        show_image(grid[row, 0], image[0], titles[row + 1])
        for g in range(order):
            grid[row, g + 1].imshow(features[g, channel].numpy(), cmap=MAP, vmin=low, vmax=high)
            grid[row, g + 1].set_xticks([])
            grid[row, g + 1].set_yticks([])
            grid[row, g + 1].spines[:].set_visible(True)
    for g in range(order):
        source = g + steps[place]
        if not cyclic and not 0 <= source < order:
            grid[1, g + 1].set_xlabel("expected: zeros", color=RED)
            continue
        wraps = not 0 <= source < order
        line = ConnectionPatch(
            (0.5, -0.03),
            (0.5, 1.03),
            "axes fraction",
            "axes fraction",
            axesA=grid[0, source % order + 1],
            axesB=grid[1, g + 1],
            arrowstyle="-|>",
            color=GREY if wraps else BLUE,
            linestyle="--" if wraps else "-",
            linewidth=2,
            mutation_scale=14,
        )
        panel.add_artist(line)
    panel.suptitle(titles[0], fontsize=14)
