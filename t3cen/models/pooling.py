"""From functions on the group and the plane to the numbers that a classifier takes."""

from __future__ import annotations

from torch import Tensor, nn

from t3cen.nn import GroupPool

POOLS = ("max", "mean", "pixel_max", "none")


class GlobalPool(nn.Module):
    """Pooling over the plane and the group, `(B, G, C, H, W)` to `(B, entries * C)`.

    Args:
        mode: `"max"`, the maximum over the group of the mean over the plane (paper; LCER); `"mean"` over both; `"pixel_max"`, the
            mean over the plane of the maximum over the group (CEConv); `"none"`, the mean over the plane of every group element,
            which is not invariant (CEConv without coset pooling).
        order: of the group.
        finer: what makes values on a finer group, of which a maximum is taken; None takes those of the group.

    Attributes:
        entries: how many numbers a channel gives: `order` for `"none"`, else 1.

    Raises:
        ValueError: another mode.
    """

    def __init__(self, mode: str, order: int, finer: nn.Module | None = None) -> None:
        super().__init__()
        if mode not in POOLS:
            raise ValueError(f"pool must be one of {', '.join(POOLS)}, got {mode!r}")
        self.mode = mode
        self.entries = order if mode == "none" else 1
        group = nn.Flatten(1, 2) if mode == "none" else GroupPool("mean" if mode == "mean" else "max")
        self.group = group if finer is None or mode in ("mean", "none") else nn.Sequential(finer, group)

    def forward(self, features: Tensor) -> Tensor:
        """`(B, G, C, H, W)` to `(B, entries * C)`."""
        if self.mode == "pixel_max":
            return self.group(features).mean(dim=(-2, -1))
        return self.group(features.mean(dim=(-2, -1)))

    def extra_repr(self) -> str:
        return f"mode={self.mode}"
