"""The scale lifting, band-limited so that any scaling moves its functions on the group exactly."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from t3cen.algebra.band import band
from t3cen.groups import CyclicProduct
from t3cen.nn.liftings.scale import ScaleLifting
from t3cen.ops import uncast
from t3cen.turns import wrap


class ScaleSeriesLifting(ScaleLifting):
    """`ScaleLifting` onto the frequencies that the group can hold.

    The action moves the angles of both coordinates of a pixel alike. So it moves a pixel along a closed path, on which the
    difference of its two angles stays what it is. The image is read at fixed places of that path, wherever on it the pixel
    is. The lowest frequencies of what is read there belong to the path, and the pixel's angle only turns them. That is exact
    for every image, size, cover and angle. What the `POINTS` places miss of a large image changes which function it is lifted
    to, not how the function moves.

    Args: those of `ScaleLifting`.

    Raises:
        ValueError: order 2; what `ScaleLifting` raises.
    """

    POINTS, AT_ONCE = 128, 16
    """Places of a path, and how many are read at once. They are the same for every size, so that exported networks take any."""

    def __init__(self, group: CyclicProduct, cover: str = "triangle") -> None:
        super().__init__(group, cover)
        self.frequencies = band(group.order)  # raises for order 2

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 5, H, W)` angles -> `(B, G, 3, H, W)`."""
        with uncast(angles.device):
            rgb, (across, down) = angles[:, :3], angles[:, 3:].unbind(1)
            apart = wrap(down - across)
            places = torch.arange(self.POINTS, dtype=angles.dtype, device=angles.device) / self.POINTS
            spectrum: Any = 0
            for part in places.split(self.AT_ONCE):
                there = part[:, None, None].expand(across.shape[0], -1, *across.shape[1:])
                seen = self._look(rgb, torch.stack([there, there + apart[:, None]], 2))
                # one product of two matrices: exported ones of three axes ask that no batch be of one image
                spectrum = spectrum + (self._harmonics(part) / self.POINTS) @ seen.transpose(0, 1).flatten(1)
            spectrum = spectrum.unflatten(1, (-1, 3, *across.shape[1:])).transpose(0, 1)
            steps = torch.arange(self.group.order, dtype=angles.dtype, device=angles.device) / self.group.order
            turned = self._harmonics(across[:, None] + steps[:, None, None], 2)
            turned = torch.cat([turned[:, :, :1], 2 * turned[:, :, 1:]], 2)  # each frequency and its conjugate
            return (turned[:, :, :, None] * spectrum[:, None]).sum(2)

    def _harmonics(self, angle: Tensor, dim: int = 0) -> Tensor:
        """1, and cosine and sine of each frequency, of angles in turns, along a new axis of `2 K + 1`."""
        frequencies = torch.arange(1, self.frequencies + 1, dtype=angle.dtype, device=angle.device)
        phase = 2 * math.pi * angle.unsqueeze(dim) * frequencies.reshape(-1, *[1] * (angle.ndim - dim))
        return torch.cat([torch.ones_like(angle).unsqueeze(dim), phase.cos(), phase.sin()], dim)
