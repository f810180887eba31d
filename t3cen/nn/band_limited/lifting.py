"""Liftings whose functions on the group are band-limited, so that any rotation of the circle moves them exactly or nearly."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from t3cen.algebra.band import projection
from t3cen.nn.band_limited.limit import AxisMap
from t3cen.nn.band_limited.series import HSLSeriesLifting, LightSeriesLifting, RGBSeriesLifting
from t3cen.nn.liftings.base import Lifting
from t3cen.nn.liftings.hsl import HSLLifting
from t3cen.nn.liftings.light import LightLifting
from t3cen.nn.liftings.rgb import RGBLifting
from t3cen.ops import uncast


class BandLimitedLifting(Lifting):
    """Any lifting, sampled at more points of the circle and projected onto the frequencies its group can hold.

    The points are those of the group and of the group moved by fractions of a step, one such set of images at a time, so that
    no more than one function on the group is held beside the sum.

    Args:
        lifting: the discrete lifting; its `group` is the group of the output.
        points: points of an axis as a multiple of its order; what is left of higher frequencies falls with its square.

    Raises:
        ValueError: order 2, `points` less than 1.
    """

    def __init__(self, lifting: Lifting, points: int = 4) -> None:
        super().__init__(lifting.group)
        if isinstance(points, bool) or not isinstance(points, int) or points < 1:
            raise ValueError(f"points must be a whole number >= 1, got {points!r}")
        self.lifting, self.points = lifting, points
        # For each set of points, the columns of the projection that belong to the group moved by its offset.
        axes = [
            [projection(n, points * n)[:, j::points].copy() for j in range(points)] if n > 1 else [np.ones((1, 1))]
            for n in self.group.orders
        ]
        self.offsets = list(itertools.product(*(range(len(parts)) for parts in axes)))
        self.parts = nn.ModuleList(AxisMap(parts) for parts in itertools.product(*axes))

    def _encode(self, rgb: Tensor) -> Tensor:
        return self.lifting._encode(rgb)

    def act(self, angles: Tensor, element: Sequence[float]) -> Tensor:
        return self.lifting.act(angles, element)

    def decode(self, angles: Tensor) -> Tensor:
        return self.lifting.decode(angles)

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, G, 3, H, W)`: the lowest frequencies of the orbit of the images, as samples at the elements of the group."""
        with uncast(angles.device):
            orbits = (self.lifting.lift(self.lifting.act(angles, [j / self.points for j in offset])) for offset in self.offsets)
            return functools.reduce(torch.add, (part(orbit) for part, orbit in zip(self.parts, orbits, strict=True)))

    def off_sheet(self, angles: Tensor) -> Tensor:
        return self.lifting.off_sheet(angles)

    def undefined_hue(self, angles: Tensor) -> Tensor:
        return self.lifting.undefined_hue(angles)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, points={self.points}"


def band_limited(lifting: Lifting, points: int | str = "exact") -> Lifting:
    """The band-limited form of a lifting: sampled at `points` times the order, or `"exact"`, by its Fourier series.

    Raises:
        ValueError: order 2, `points` out of range, `"exact"` for a lifting without a Fourier series.
    """
    if points != "exact":
        return BandLimitedLifting(lifting, points)  # type: ignore[arg-type]
    if type(lifting) is HSLLifting:
        return HSLSeriesLifting(lifting.group, lifting.cover, lifting.color_space)  # type: ignore[arg-type]
    if type(lifting) is RGBLifting:
        return RGBSeriesLifting(lifting.group, lifting.cover)  # type: ignore[arg-type]
    if type(lifting) is LightLifting:
        return LightSeriesLifting(lifting.group, lifting.cover, lifting.stops, lifting.srgb)  # type: ignore[arg-type]
    raise ValueError(f"{type(lifting).__name__} has no Fourier series here; set band_limit.lift to a number of points, such as 4")
