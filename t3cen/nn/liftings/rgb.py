"""Lifting to the group of red, green and blue shifts, each value along its own double cover."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.covers import get_cover
from t3cen.groups import ColorGroup, RGBGroup
from t3cen.nn.liftings.base import ColorLifting, off_branch, orbit


class RGBLifting(ColorLifting):
    """Image -> function on the RGB group.

    Angles are `(B, 3, H, W)`: the cover's angles of red, green and blue, in turns.

    Args:
        group: orders of red, green and blue; the three orders of a `ColorGroup` are taken for them in this order.
        cover: `"triangle"`, `"sine"` or `"half_sine"`, for all three.

    Raises:
        ValueError: unknown cover, a group without three factors.

    Source: paper, Discussion, "Application to RGB shift equivariance".
    """

    def __init__(self, group: RGBGroup | ColorGroup, cover: str = "triangle") -> None:
        super().__init__(group)
        self.cover = get_cover(cover).name

    def _encode(self, rgb: Tensor) -> Tensor:
        return get_cover(self.cover).lift(rgb)

    def decode(self, angles: Tensor) -> Tensor:
        return get_cover(self.cover).project(angles)

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 3, H, W)` angles -> `(B, G, 3, H, W)`: three orbits of one channel each, spread over the product."""
        project = get_cover(self.cover).project
        red, green, blue = (project(orbit(a, order)) for a, order in zip(angles.unbind(1), self.group.orders, strict=True))
        spread = torch.broadcast_tensors(red[:, :, None, None], green[:, None, :, None], blue[:, None, None])
        return torch.stack(spread, 4).flatten(1, 3)

    def off_sheet(self, angles: Tensor) -> Tensor:
        return off_branch(angles, get_cover(self.cover)).any(1)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, cover={self.cover}"
