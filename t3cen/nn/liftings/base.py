"""What every lifting is: an image becomes angles, angles are acted on, angles become a function on the group."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from t3cen.covers import Cover
from t3cen.groups import CyclicProduct
from t3cen.nn.checks import check_image
from t3cen.turns import circle_distance, wrap


class Lifting(nn.Module):
    """An image `(B, 3, H, W)` -> a function on the group `(B, G, 3, H, W)`, one transformed image per group element.

    `forward(rgb) = lift(encode(rgb))`, and `lift(angles)[:, g] = decode(act(angles, g))`, unless a lifting says that it shows
    something else than images; so `lift(act(angles, e)) == group.act(lift(angles), e)` to rounding. Everything is computed in
    float32 (float64 for float64 images) whatever the trainer's precision; the result keeps that precision.

    Attributes:
        group: the group of the output.
        channels: of its images, 3 unless a class says otherwise.

    Source: paper, "Lifting layer".
    """

    channels: int = 3

    def __init__(self, group: CyclicProduct) -> None:
        super().__init__()
        if not isinstance(group, CyclicProduct):
            raise ValueError(f"{type(self).__name__} needs a group such as ColorGroup(hue=4), got {group!r}")
        self.group = group

    def forward(self, rgb: Tensor) -> Tensor:
        """`(B, 3, H, W)`, RGB in [0, 1] -> `(B, G, 3, H, W)`, RGB in [0, 1] up to rounding.

        Raises:
            ValueError: wrong shape or channel count, not floating point, values outside [0, 1], NaN.
        """
        return self.lift(self.encode(rgb))

    def encode(self, rgb: Tensor) -> Tensor:
        """The angles of an image, on the principal branch of the cover. Raises as `forward`."""
        return self._encode(check_image(rgb))

    def _encode(self, rgb: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} must say how a checked image becomes angles")

    def act(self, angles: Tensor, element: Sequence[float]) -> Tensor:
        """Act on angles by `element`, in steps of the group: whole for a group element, fractions for anything between."""
        raise NotImplementedError(f"{type(self).__name__} must say how the group acts on angles")

    def decode(self, angles: Tensor) -> Tensor:
        """The RGB image of given angles, `(B, 3, H, W)` in [0, 1]."""
        raise NotImplementedError(f"{type(self).__name__} must say which image given angles are")

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, G, 3, H, W)`: the images of `act(angles, g)` for every element g of the group, row-major."""
        raise NotImplementedError(f"{type(self).__name__} must say which function on the group given angles are")

    def off_sheet(self, angles: Tensor) -> Tensor:
        """`(B, H, W)` booleans: pixels that come back on another sheet of a cover when decoded and encoded again.

        An image stores a value, not which of its two angles it came from. None where there is no cover.
        Source: `docs/fidelity.md`, the sheet.
        """
        return torch.zeros_like(angles[:, 0], dtype=torch.bool)

    def undefined_hue(self, angles: Tensor) -> Tensor:
        """`(B, H, W)` booleans: pixels whose image is grey, black or white while the lifting needs their hue.

        None where hue plays no part.
        """
        return torch.zeros_like(angles[:, 0], dtype=torch.bool)

    def sheet_changes(self, angles: Tensor, element: Sequence[float]) -> float:
        """Share of pixels in [0, 1] that change sheet when acted on by `element` and passed through an image.

        Where no pixel does, and none loses its hue, acting on images is acting on angles.
        """
        return self.off_sheet(self.act(angles, element)).double().mean().item()

    def hue_losses(self, angles: Tensor, element: Sequence[float]) -> float:
        """Share of pixels in [0, 1] whose hue is lost when acted on by `element` and passed through an image."""
        return self.undefined_hue(self.act(angles, element)).double().mean().item()

    def turns(self, element: Sequence[float]) -> list[float]:
        """The part of a turn that `element` moves along each factor of the group.

        Raises:
            ValueError: not one number of steps for each factor.
        """
        if len(element) != len(self.group.orders):
            raise ValueError(f"{len(element)} steps in {tuple(element)}, {len(self.group.orders)} expected by {self.group}")
        return [float(steps) / order for steps, order in zip(element, self.group.orders, strict=True)]

    def extra_repr(self) -> str:
        return f"(B, 3, H, W) -> (B, {self.group.order}, 3, H, W), {self.group}"


class ColorLifting(Lifting):
    """A lifting whose angles are three per pixel, `(B, 3, H, W)` in turns, one for each of three factors of the group."""

    def __init__(self, group: CyclicProduct) -> None:
        super().__init__(group)
        if len(group.orders) != 3:
            raise ValueError(f"{type(self).__name__} needs a group of three factors, got {len(group.orders)}: {group}")

    def act(self, angles: Tensor, element: Sequence[float]) -> Tensor:
        """Add `element` to the angles, modulo one turn.

        Args:
            angles: `(B, 3, H, W)` in turns.
            element: three numbers of steps, `1/order` of a turn each; fractions of a step are allowed.

        Returns:
            `(B, 3, H, W)`, in [0, 1) turns.

        Source: paper, the group actions on images, e.g. "Saturation group and group action".
        """
        turns = torch.tensor(self.turns(element), dtype=angles.dtype, device=angles.device)
        return wrap(angles + turns[:, None, None])


def orbit(angle: Tensor, order: int) -> Tensor:
    """`(B, H, W)` angles -> `(B, order, H, W)`: the angle after 0, 1, ..., order-1 steps of `1/order` turn, not wrapped."""
    steps = torch.arange(order, dtype=angle.dtype, device=angle.device) / order
    return angle[:, None] + steps[:, None, None]


def off_branch(angle: Tensor, cover: Cover) -> Tensor:
    """Where `angle`, in turns, is not the angle on the cover's principal branch with the same value.

    At the ends of the branch both sheets meet; there a rounding error of the value moves a sine cover's angle by its square
    root, so that much is not called a change.
    """
    return circle_distance(angle, cover.lift(cover.project(angle))) > off_sheet_rounding(angle.dtype)


def off_sheet_rounding(dtype: torch.dtype) -> float:
    """Angles this near, in turns, count as one when an image comes back."""
    return 4 * torch.finfo(dtype).eps ** 0.5
