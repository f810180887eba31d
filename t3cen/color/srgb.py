"""sRGB's transfer curve: from stored values to linear light and back."""

from __future__ import annotations

import torch
from torch import Tensor

TOE = 0.04045  # stored value below which the curve is a straight line
SLOPE = 12.92


def srgb_to_linear(rgb: Tensor) -> Tensor:
    """Stored values in [0, 1] -> linear light in [0, 1], any shape. Source: IEC 61966-2-1."""
    return torch.where(rgb <= TOE, rgb / SLOPE, ((rgb + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(light: Tensor) -> Tensor:
    """Linear light in [0, 1] -> stored values in [0, 1], any shape; undoes `srgb_to_linear`."""
    dark = TOE / SLOPE
    # The power's slope at 0 is infinite, and would make the gradient of the other branch NaN.
    return torch.where(light <= dark, light * SLOPE, 1.055 * light.clamp(min=dark) ** (1 / 2.4) - 0.055)
