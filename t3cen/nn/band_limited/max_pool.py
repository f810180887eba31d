"""Max-pooling over the plane of band-limited functions."""

from __future__ import annotations

from torch import Tensor, nn

from t3cen.groups import CyclicProduct
from t3cen.nn.band_limited.activation import GroupActivation


class GroupMaxPool2d(nn.Module):
    """Max-pooling over windows of the plane that do not overlap, made to commute with every rotation of the circle, nearly.

    The larger of two functions is `b + relu(a - b)`, so this is as exact as `GroupActivation(nn.ReLU())`: the maximum along the
    width, one column after the other, and then along the height, each kept in the band before it meets the next.

    Args:
        kernel_size: side of a window, and the step to the next; at least 1. What does not fill a window is left out.
        group, points: as in `GroupActivation`.

    Shape:
        `(B, G, C, H, W)` -> `(B, G, C, H // kernel_size, W // kernel_size)`.

    Raises:
        ValueError: `kernel_size` or `points` out of range, order 2, an input that is not as above or smaller than a window.
    """

    def __init__(self, kernel_size: int, group: CyclicProduct, points: int = 3) -> None:
        super().__init__()
        if isinstance(kernel_size, bool) or not isinstance(kernel_size, int) or kernel_size < 1:
            raise ValueError(f"kernel_size must be a whole number >= 1, got {kernel_size!r}")
        self.kernel_size = kernel_size
        self.relu = GroupActivation(nn.ReLU(), group, points)

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, C, H, W)` -> `(B, G, C, H', W')`."""
        if input.ndim != 5 or min(input.shape[3:]) < self.kernel_size:
            size = self.kernel_size
            raise ValueError(f"the input {tuple(input.shape)} must be (B, G, C, H, W), H and W at least {size}")
        return self._along(3, self._along(4, input))

    def _along(self, axis: int, input: Tensor) -> Tensor:
        size = self.kernel_size
        windows = input.narrow(axis, 0, input.shape[axis] // size * size).unflatten(axis, (-1, size))
        largest, *others = windows.unbind(axis + 1)
        for other in others:
            largest = other + self.relu(largest - other)
        return largest

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}"
