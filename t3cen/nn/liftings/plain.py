"""The liftings of networks without a group: the image itself, or its grey version."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.nn.liftings.base import Lifting


class IdentityLifting(Lifting):
    """`(B, 3, H, W)` -> `(B, 1, 3, H, W)`: the image, checked; its "angles" are its RGB values, which nothing moves.

    Args:
        group: must be trivial; taken so that every lifting is built alike.
        cover: taken for the same reason; there is nothing to cover.

    Raises:
        ValueError: the group is not trivial.
    """

    def __init__(self, group: CyclicProduct | None = None, cover: str = "triangle") -> None:
        group = ColorGroup() if group is None else group
        if group.order != 1:
            raise ValueError(f"{type(self).__name__} lifts to the trivial group, got order {group.order}: {group}")
        super().__init__(group)

    def _encode(self, rgb: Tensor) -> Tensor:
        return rgb

    def act(self, angles: Tensor, element: Sequence[float]) -> Tensor:
        """The angles unchanged: an order of 1 makes every step a whole turn.

        Raises:
            ValueError: a fraction of a step, which the trivial group has no meaning for, or the wrong number of steps.
        """
        if any(turns != round(turns) for turns in self.turns(element)):
            raise ValueError(f"{type(self).__name__} can act by whole steps only, got {tuple(element)}")
        return angles.clone()

    def decode(self, angles: Tensor) -> Tensor:
        return angles.clone()

    def lift(self, angles: Tensor) -> Tensor:
        return angles[:, None]


class GrayLifting(IdentityLifting):
    """`(B, 3, H, W)` -> `(B, 1, 3, H, W)`: the image without colour, its luma (ITU-R BT.601) in all three channels."""

    def _encode(self, rgb: Tensor) -> Tensor:
        red, green, blue = rgb.split(1, 1)
        return (0.299 * red + 0.587 * green + 0.114 * blue).expand_as(rgb)
