"""The colours of Planckian radiators: glowing bodies, from candles to the blue sky."""

from __future__ import annotations

import torch
from torch import Tensor

COLDEST, HOTTEST = 2222.0, 25000.0  # kelvin
XYZ_TO_RGB = ((3.2406, -1.5372, -0.4986), (-0.9689, 1.8758, 0.0415), (0.0557, -0.2040, 1.0570))  # IEC 61966-2-1


def planckian_xy(kelvin: float) -> tuple[float, float]:
    """Chromaticity of a radiator, CIE 1931 x and y.

    Args:
        kelvin: its temperature, in [2222, 25000].

    Raises:
        ValueError: a temperature outside that range.

    Source: Kim et al., "Design of advanced color temperature control system for HDTV
    applications", 2002: cubic splines.
    """
    if not COLDEST <= kelvin <= HOTTEST:
        raise ValueError(f"a colour temperature must lie in [{COLDEST:.0f}, {HOTTEST:.0f}] kelvin, got {kelvin}")
    t = 1000 / kelvin
    if kelvin <= 4000:
        x = ((-0.2661239 * t - 0.2343589) * t + 0.8776956) * t + 0.179910
        return x, ((-0.9549476 * x - 1.37418593) * x + 2.09137015) * x - 0.16748867
    x = ((-3.0258469 * t + 2.1070379) * t + 0.2226347) * t + 0.240390
    return x, ((3.0817580 * x - 5.87338670) * x + 3.75112997) * x - 0.37001483


def planckian_gains(kelvin: float) -> Tensor:
    """`(3,)`: what a radiator makes of a white surface in linear sRGB, the largest channel 1; float32.

    White light of 6,500 kelvin gives three gains of nearly 1. Range and errors as `planckian_xy`.
    """
    x, y = planckian_xy(kelvin)
    rgb = torch.tensor(XYZ_TO_RGB) @ torch.tensor([x / y, 1, (1 - x - y) / y])
    return rgb / rgb.max()
