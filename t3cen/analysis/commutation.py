"""Does a network commute with a colour shift? T3CEN by its group, LCER by its translations with zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from t3cen.groups import CyclicProduct
from t3cen.nn.liftings.base import Lifting
from t3cen.testing import Action, equivariance_error

ROUNDING = 1e-6
"""Steps this near to a whole number are that number: an amount divided by a step is seldom whole in floating point."""
Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Commutation:
    """The paper's normalised error of one shift, in [0, 1]; 0 is perfect.

    Attributes:
        angles: where the shift acts on what the lifting encodes.
        image: where the shifted picture passes through an image, which forgets the sheet.
        sheet_changes, hue_losses: shares of pixels in [0, 1] that the image sends to another sheet, or that lose their hue.
    """

    angles: float
    image: float
    sheet_changes: float
    hue_losses: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def translate(group: CyclicProduct) -> Action:
    """How LCER's group acts on a function on it: hue rolls, every other axis moves along and fills with zeros.

    Acting raises ValueError for steps that are not whole to within `ROUNDING`.

    Source: paper, `phi_s(s_i, f) = (f_{1+i}, ..., f_M, 0, ..., 0)`.
    """

    def act(f: Tensor, element: Sequence[float]) -> Tensor:
        unfolded = f.unflatten(1, group.orders)
        if any(abs(steps - round(steps)) > ROUNDING for steps in element):
            raise ValueError(f"{tuple(element)} is no element of {group}: whole steps expected")
        hue, *values = map(round, element)
        moved = torch.roll(unfolded, -hue, 1)
        for axis, steps in enumerate(values, start=2):
            if steps == 0:
                continue
            order = moved.shape[axis]
            source = torch.arange(order, device=f.device) + steps
            inside = (source >= 0) & (source < order)
            shape = [-1 if at == axis else 1 for at in range(moved.ndim)]
            moved = moved.index_select(axis, source.clamp(0, order - 1)) * inside.to(f.dtype).view(shape)
        return moved.reshape(f.shape)

    return act


def commutation_error(
    lifting: Lifting,
    function: Function,
    rgb: Tensor,
    element: Sequence[float],
    *,
    moved: Sequence[float] | None = None,
    translated: bool = False,
) -> Commutation:
    """Compare `function(lift(a x))` with `a function(lift(x))` for one shift `a`.

    Args:
        lifting: of the network.
        function: from a lifted image `(B, G, 3, H, W)` to features `(B, G, ...)`, for instance `network.trunk`.
        rgb: `(B, 3, H, W)`, RGB in [0, 1].
        element: the shift, in steps of the lifting's group, of either sign.
        moved: how far the image is shifted where that is not `element`, in steps too, fractions allowed.
        translated: the group acts on features by translation with zeros (LCER), not cyclically.

    Source: paper, "Equivariance Error".
    """
    group = lifting.group
    act_output = translate(group) if translated else group.act
    angles = lifting.encode(rgb)

    def shift(given: Tensor, asked: Sequence[float]) -> Tensor:
        return lifting.act(given, asked if moved is None else moved)

    def on_angles(given: Tensor) -> Tensor:
        return function(lifting.lift(given))

    def on_image(given: Tensor) -> Tensor:
        return function(lifting(lifting.decode(given)))

    # Images enter both sides as the angles they encode to, so the two protocols differ in nothing but the passage.
    def error(f: Function) -> float:
        return equivariance_error(f, group, angles, act_input=shift, act_output=act_output, elements=[element]).worst

    return Commutation(
        angles=error(on_angles),
        image=error(on_image),
        sheet_changes=lifting.sheet_changes(angles, element if moved is None else moved),
        hue_losses=lifting.hue_losses(angles, element if moved is None else moved),
    )


def steps_of(lifting: Lifting, axis: int, amount: float) -> tuple[float, ...]:
    """The element that shifts one axis by `amount`, for the triangle cover or LCER's translations.

    Args:
        lifting: T3CEN's or LCER's.
        axis: which factor of the group: 0 hue, 1 saturation, 2 luminance (or red, green, blue).
        amount: in turns for hue, in units of the value for the others; of either sign.

    Raises:
        ValueError: that axis has order 1, or the shift is no whole or fractional number of its steps.
    """
    orders = lifting.group.orders
    if orders[axis] < 2:
        raise ValueError(f"axis {axis} has order {orders[axis]} in {lifting.group}; a shift needs an order of at least 2")
    offset = getattr(lifting, "offset", None)
    color = len(orders) == 3 and axis == 0 and lifting.group.names[0] == "hue"
    one_step = offset(axis, 1) if offset else (1 if color else 2) / orders[axis]
    steps = amount / one_step
    steps = float(round(steps)) if abs(steps - round(steps)) <= ROUNDING else steps
    return tuple(steps if at == axis else 0.0 for at in range(len(orders)))
