"""Lifting to the scale group: the coordinates of every pixel moved along their double cover."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.covers import get_cover
from t3cen.groups import CyclicProduct
from t3cen.nn.liftings.base import Lifting, off_branch
from t3cen.turns import wrap

SNAP = 1e-3  # pixels; a position this near a pixel's centre is that centre, so that rounding cannot blur a permutation


class ScaleLifting(Lifting):
    """Image -> function on the scale group.

    The paper's action moves pixel coordinates: `(p_x, p_y) -> (pi(p_x + a), pi(p_y + a))`, coordinates in [0, 1]. Taken as
    printed, a pixel at `p` shows what the image holds at `pi(theta(p) + a)`, theta being the coordinate's angle on the cover.
    So the angles belong to the coordinates, and travel with the image that they look into:

    Angles are `(B, 5, H, W)`: the image (3 channels, RGB, which nothing moves), then the angles of p_x and p_y, in turns.
    The action adds to the last two, so it is exact for every image, size, cover and fraction of a step; reading the image at
    the resulting positions is bilinear. `docs/fidelity.md` says where decoding to an image stays exact.

    Args:
        group: a `ScaleGroup`, or any group with at most one factor that is not trivial.
        cover: `"triangle"`, `"sine"` or `"half_sine"`.

    Raises:
        ValueError: unknown cover, a group with two or more factors that are not trivial.

    Source: paper, Discussion, "Application to scale equivariance".
    """

    def __init__(self, group: CyclicProduct, cover: str = "triangle") -> None:
        super().__init__(group)
        if sum(order > 1 for order in group.orders) > 1:
            raise ValueError(f"scale has one axis: at most one order may differ from 1, got {group.orders} in {group}")
        self.cover = get_cover(cover).name

    def _encode(self, rgb: Tensor) -> Tensor:
        height, width = rgb.shape[-2:]
        lift = get_cover(self.cover).lift
        across = lift(_centres(width, rgb)).expand(height, width)
        down = lift(_centres(height, rgb))[:, None].expand(height, width)
        angles = torch.stack([across, down]).expand(rgb.shape[0], 2, height, width)
        return torch.cat([rgb, angles], 1)

    def act(self, angles: Tensor, element: Sequence[float]) -> Tensor:
        """Add `element` to the angles of both coordinates, modulo one turn.

        Args:
            angles: `(B, 5, H, W)` as `encode` gives them.
            element: one number of steps for each factor of the group; fractions of a step are allowed.
        """
        return torch.cat([angles[:, :3], wrap(angles[:, 3:] + sum(self.turns(element)))], 1)

    def decode(self, angles: Tensor) -> Tensor:
        return self._look(angles[:, :3], angles[:, None, 3:])[:, 0]

    def lift(self, angles: Tensor) -> Tensor:
        steps = torch.arange(self.group.order, dtype=angles.dtype, device=angles.device) / self.group.order
        return self._look(angles[:, :3], angles[:, None, 3:] + steps[:, None, None, None])

    def _look(self, rgb: Tensor, angles: Tensor) -> Tensor:
        """The image, `(B, 3, H, W)`, seen at the coordinates with the angles `(B, G, 2, H, W)`: `(B, G, 3, H, W)`."""
        height, width = rgb.shape[-2:]
        across, down = angles.unbind(2)
        grid = torch.stack([self._grid(across, width), self._grid(down, height)], -1)
        # The group is laid out as extra rows: one reading of each image, none copied.
        seen = F.grid_sample(rgb, grid.flatten(1, 2), mode="bilinear", padding_mode="border", align_corners=False)
        return seen.unflatten(2, (-1, height)).transpose(1, 2)

    def _grid(self, angle: Tensor, size: int) -> Tensor:
        """Where to read along an axis of `size` pixels, as `grid_sample` counts: -1 to 1 across the outer edges."""
        position = get_cover(self.cover).project(angle) * size - 0.5
        centre = torch.round(position)
        position = torch.where((position - centre).abs() < SNAP, centre, position)
        return (2 * position + 1) / size - 1

    def off_sheet(self, angles: Tensor) -> Tensor:
        return off_branch(angles[:, 3:], get_cover(self.cover)).any(1)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, cover={self.cover}"


def _centres(size: int, like: Tensor) -> Tensor:
    """Coordinates of `size` pixel centres in (0, 1)."""
    return (torch.arange(size, dtype=like.dtype, device=like.device) + 0.5) / size
