"""Colour liftings by their Fourier series: band-limited without sampling, so that any rotation of the angles is exact."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from t3cen.algebra.band import band
from t3cen.algebra.bilinear import Matrix
from t3cen.color import get_color_space
from t3cen.color.hexcone import hue_fall
from t3cen.covers import get_cover
from t3cen.groups import ColorGroup, RGBGroup
from t3cen.nn.band_limited.limit import AxisMap
from t3cen.nn.liftings.hsl import HSLLifting
from t3cen.nn.liftings.light import LightLifting
from t3cen.nn.liftings.rgb import RGBLifting
from t3cen.ops import uncast

Curve = Callable[[Tensor], Tensor]
PIECES = 12  # every cover, colour space and hue curve has its kinks at multiples of 1/12 turn
NODES = 32  # Gauss-Legendre nodes a piece


class OrbitSeries(nn.Module):
    """The orbit of an angle under one cyclic factor, seen through curves whose high frequencies are cut off.

    Args:
        curves: function of an angle in turns, `(..., H, W)` -> `(..., F, H, W)`, F curves of period 1.
        order: N, of the factor; at order 1 there is no orbit, and the curves are taken whole.

    Shape:
        `(B, H, W)` angles -> `(B, F, N, H, W)`: curve f, cut off above `band(N)`, at the angle after n steps of 1/N turn.
    """

    def __init__(self, curves: Curve, order: int) -> None:
        super().__init__()
        self.curves, self.order = curves, order
        self.combine = AxisMap([orbit_series(curves, order)]) if order > 1 else None

    def forward(self, angle: Tensor) -> Tensor:
        if self.combine is None:
            return self.curves(angle).unsqueeze(2)
        frequencies = torch.arange(1, band(self.order) + 1, dtype=angle.dtype, device=angle.device)
        phase = 2 * math.pi * frequencies[:, None, None] * angle[:, None]
        harmonics = torch.cat([torch.ones_like(angle[:, None]), phase.cos(), phase.sin()], 1)
        return self.combine(harmonics).unflatten(1, (-1, self.order))


def orbit_series(curves: Curve, order: int) -> Matrix:
    """`(F N, 2K + 1)`: from the harmonics 1, cos, ..., sin, ... of an angle to the F curves, cut off, at its N-step orbit."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    places = ((np.arange(PIECES)[:, None] + (nodes + 1) / 2) / PIECES).ravel()
    weights = np.tile(weights, PIECES) / (2 * PIECES)
    values = curves(torch.as_tensor(places, device="cpu")[:, None, None])[..., 0, 0].numpy().T  # (F, places)
    frequencies = np.arange(band(order) + 1)
    spectrum = values * weights @ np.exp(-2j * np.pi * places[:, None] * frequencies)  # (F, K + 1)
    # c exp(2 pi i k (t + g)), doubled for the conjugate frequency, is Re(c exp(ikg)) cos(kt) - Im(c exp(ikg)) sin(kt).
    turned = spectrum[:, None] * np.exp(2j * np.pi * np.arange(order)[:, None] * frequencies / order)
    turned[..., 1:] *= 2
    return np.concatenate([turned.real, -turned.imag[..., 1:]], -1).reshape(-1, 2 * len(frequencies) - 1)


class HSLSeriesLifting(HSLLifting):
    """`HSLLifting` onto the frequencies that the group can hold, on each axis whose order is not 1.

    A colour is a sum of products of functions of one coordinate each, because its largest channel and its chroma are
    affine in saturation: `rgb_c = largest_0(l) + s (largest_1(l) - largest_0(l) - chroma_1(l) fall_c(h))`, where the index
    is the saturation. So the projection onto the band, a product too, acts on each function by itself.

    Args: those of `HSLLifting`.

    Raises:
        ValueError: order 2; unknown cover or colour space.
    """

    def __init__(self, group: ColorGroup, cover: str = "triangle", color_space: str = "hsl") -> None:
        super().__init__(group, cover, color_space)
        hue, saturation, luminance = group.orders
        self.hue_orbit = OrbitSeries(hue_fall, hue)
        self.saturation_orbit = OrbitSeries(self._saturation, saturation)
        self.luminance_orbit = OrbitSeries(self._luminance, luminance)

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 3, H, W)` angles -> `(B, G, 3, H, W)`."""
        with uncast(angles.device):
            hue, saturation, luminance = angles.unbind(1)
            fall = self.hue_orbit(hue).transpose(1, 2)[:, :, None, None]  # (B, N, 1, 1, 3, H, W)
            (scale,) = self.saturation_orbit(saturation)[:, None, :, :, None, None].unbind(2)  # (B, 1, M, 1, 1, H, W)
            black, rise, chroma = self.luminance_orbit(luminance)[:, None, None, :, :, None].unbind(3)  # (B, 1, 1, R, 1, H, W)
        return (black + scale * (rise - chroma * fall)).flatten(1, 3)

    def _saturation(self, angle: Tensor) -> Tensor:
        return self.covers[0].project(angle).unsqueeze(-3)

    def _luminance(self, angle: Tensor) -> Tensor:
        """Largest channel of the grey, how much full saturation adds to it, and the chroma at full saturation."""
        luminance = self.covers[1].project(angle)
        max_chroma = get_color_space(self.color_space).max_chroma
        grey, _ = max_chroma(torch.zeros_like(luminance), luminance)
        vivid, chroma = max_chroma(torch.ones_like(luminance), luminance)
        return torch.stack([grey, vivid - grey, chroma], -3)


class RGBSeriesLifting(RGBLifting):
    """`RGBLifting` onto the frequencies that the group can hold, on each axis whose order is not 1.

    Args: those of `RGBLifting`.

    Raises:
        ValueError: order 2; unknown cover.
    """

    def __init__(self, group: RGBGroup | ColorGroup, cover: str = "triangle") -> None:
        super().__init__(group, cover)
        self.orbits = nn.ModuleList(OrbitSeries(self._value, order) for order in group.orders)

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 3, H, W)` angles -> `(B, G, 3, H, W)`."""
        with uncast(angles.device):
            red, green, blue = (orbit(angle)[:, 0] for orbit, angle in zip(self.orbits, angles.unbind(1), strict=True))
        spread = torch.broadcast_tensors(red[:, :, None, None], green[:, None, :, None], blue[:, None, None])
        return torch.stack(spread, 4).flatten(1, 3)

    def _value(self, angle: Tensor) -> Tensor:
        return get_cover(self.cover).project(angle).unsqueeze(-3)


class LightSeriesLifting(LightLifting, RGBSeriesLifting):
    """`LightLifting` onto the frequencies that the group can hold, on each axis whose order is not 1.

    Args: those of `LightLifting`.

    Raises:
        ValueError: order 2; what `LightLifting` raises.
    """
