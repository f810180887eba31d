"""LCER's way, translation with clipping, for the coordinates LCER itself does not have: red, green, blue, and scale."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from t3cen.covers import get_cover
from t3cen.nn.liftings.base import Lifting


class ClippedLifting(Lifting):
    """A lifting made to move along the line and stop at its ends, where the double cover turns back.

    Element `g` of an axis of odd order N moves by `g - N // 2` steps, so the middle one is the image itself.

    Args:
        covered: a lifting whose angles from channel `first` on lie on a cover (`RGBLifting`, `ScaleLifting`).
        first: the first channel of `encode`'s result that is an angle.

    Raises:
        ValueError: an even order.

    Source: paper, the action of the predecessor, `min(x_s + s_i, c)`, and the figures of the Discussion that compare with it.
    """

    def __init__(self, covered: Lifting, first: int = 0) -> None:
        super().__init__(covered.group)
        for order in covered.group.orders:
            if order % 2 == 0:
                raise ValueError(f"translations lie symmetrically around the image itself: odd orders only, got {covered.group}")
        self.covered, self.first = covered, first
        self.branch = get_cover(covered.cover).branch  # type: ignore[arg-type]

    def _encode(self, rgb: Tensor) -> Tensor:
        return self.covered.encode(rgb)

    def offset(self, axis: int, steps: float) -> float:
        """What `steps` steps add to a value; the outermost element moves by a half."""
        reach = self.group.orders[axis] // 2
        return 0.0 if reach == 0 else steps / reach / 2

    def act(self, angles: Tensor, element: Sequence[float]) -> Tensor:
        offsets = [self.offset(axis, steps) for axis, steps in enumerate(element)]
        channels = angles.shape[1] - self.first
        # One axis for all coordinates (scale), or one for each (red, green, blue). Half a turn is the whole interval.
        turns = angles.new_tensor(offsets if len(offsets) == channels else [sum(offsets)] * channels) / 2
        moved = (angles[:, self.first :] + turns[:, None, None]).clamp(*self.branch)
        return torch.cat([angles[:, : self.first], moved], 1)

    def decode(self, angles: Tensor) -> Tensor:
        return self.covered.decode(angles)

    def lift(self, angles: Tensor) -> Tensor:
        middle = [order // 2 for order in self.group.orders]
        elements = ([g - m for g, m in zip(element, middle, strict=True)] for element in self.group.elements())
        return torch.stack([self.decode(self.act(angles, element)) for element in elements], 1)
