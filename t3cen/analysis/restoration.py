"""What a shift and its inverse leave of an image."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from t3cen.analysis.commutation import steps_of
from t3cen.nn.liftings.base import Lifting

LEVELS = 255


class Restored(NamedTuple):
    """An image, shifted, and shifted back: `(B, 3, H, W)` RGB each, and the mean absolute error in 8-bit levels."""

    shifted: Tensor
    restored: Tensor
    error: float


def lifting_error(lifting: Lifting, rgb: Tensor, amount: float = 0.75, axis: int = 1, *, through_image: bool = False) -> Restored:
    """Shift an image down by `amount` and up again: the mean of `|x - phi(g^-1, phi(g, x))|`.

    Args:
        lifting: T3CEN's (triangle cover) or LCER's; its group needs an order above 1 on `axis`.
        rgb: `(B, 3, H, W)`, RGB in [0, 1].
        amount: how far down and up, in units of the value.
        axis: 1 saturation, 2 luminance.
        through_image: store the shifted image and lift it anew before shifting back, which forgets the sheet.

    Source: paper, "Equivariance Error" and its figure "Lifting error comparison".
    """
    down, up = steps_of(lifting, axis, -amount), steps_of(lifting, axis, amount)
    moved = lifting.act(lifting.encode(rgb), down)
    shifted = lifting.decode(moved)
    back = lifting.act(lifting.encode(shifted) if through_image else moved, up)
    restored = lifting.decode(back)
    return Restored(shifted, restored, (restored.double() - rgb.double()).abs().mean().item() * LEVELS)
