"""What HSL and HSV share: the hue of a colour, and a colour from its hue, largest channel and chroma."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.turns import wrap


def working(image: Tensor, what: str) -> Tensor:
    """`image` in the precision colour is computed in: float64 stays, every other float becomes float32.

    Raises:
        ValueError: not a floating-point tensor, or not of shape `(..., 3, H, W)`.
    """
    if image.ndim < 3 or image.shape[-3] != 3:
        raise ValueError(f"{what} must have shape (..., 3, H, W), got {tuple(image.shape)}")
    if not image.is_floating_point():
        raise ValueError(f"{what} must be floating point, got {image.dtype}; convert 8-bit images with image.float() / 255")
    return image if image.dtype == torch.float64 else image.float()


def smallest(image: Tensor) -> float:
    """The chroma (or room for chroma) below which a colour counts as grey (or black, or white).

    One rounding error carries no colour. The slopes of hue and saturation are about 1 over it; in float16, whose largest
    number is 65504, they must fit too.
    """
    precision = torch.float64 if image.dtype == torch.float64 else torch.float32
    return max(torch.finfo(precision).eps, 8 / torch.finfo(image.dtype).max)


def hue_max_chroma(rgb: Tensor, grey: float) -> tuple[Tensor, Tensor, Tensor]:
    """Hue, largest channel and chroma (largest minus smallest channel) of a colour.

    Args:
        rgb: `(..., 3, H, W)` in [0, 1].
        grey: the largest chroma that counts as none.

    Returns:
        hue in turns [0, 1) (0 where it is undefined: grey, black, white), maximum and chroma in [0, 1]; each `(..., H, W)`.
    """
    red, green, blue = rgb.unbind(-3)
    largest = rgb.amax(-3)
    chroma = largest - rgb.amin(-3)
    # Where there is no hue, dividing by 1 before the choice keeps the gradient finite: the branch not chosen is differentiated.
    colored = chroma > grey
    divisor = torch.where(colored, chroma, 1)
    sixths = torch.where(
        largest == red,
        (green - blue) / divisor,
        torch.where(largest == green, (blue - red) / divisor + 2, (red - green) / divisor + 4),
    )
    return torch.where(colored, wrap(sixths / 6), 0), largest, chroma


def hue_fall(hue: Tensor) -> Tensor:
    """How far each channel falls from the largest one to the smallest, given the hue.

    Channel c falls with the distance d of the hue from its own (red 0, green 1/3, blue 2/3 of a turn): not at all up to
    1/6 of a turn, wholly from 1/3 on, linearly between. Then `rgb_c = maximum - chroma * fall_c(hue)`, in HSL and HSV alike.

    Args:
        hue: `(..., H, W)` in turns, any number of turns.

    Returns:
        `(..., 3, H, W)` in [0, 1].
    """
    own = torch.arange(3, dtype=hue.dtype, device=hue.device)[:, None, None] / 3
    # In place on the one new tensor: this is the lifting's hot path, and every further tensor would cost more than the
    # arithmetic; only `torch.vmap` has no rule for the last. The fraction of |x| is in [0, 1); its distance from 1/2 is 1/2 - d.
    from_half = (hue.unsqueeze(-3) - own).abs_().frac_().sub_(0.5).abs_()
    return from_half.mul_(-6).add_(2).clamp(0, 1)
