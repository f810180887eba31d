"""ReLU of band-limited functions on a group by its cell averages, which fold far less into the band than its values do.

The function is interpolated to Q points of an axis, and taken as straight between neighbours. ReLU has a closed average along a
straight piece, and the averages of all pieces are samples of its result after a moving average one piece long. So there is a
filter in front of the sampling: what would fold onto frequency k comes from `Q - k` and is multiplied by `sinc((Q - k) / Q)`,
about `k / Q`.

On several axes a piece is a diagonal of a cell of the grid. All `2^(axes - 1)` diagonals are averaged: of a function that is
positive everywhere, frequency k is then multiplied by `cos(pi k / Q)` of each axis, which `mean_projection` divides by. So that
function comes back as it was, as from ReLU itself.

A piece between the values a and b has the average `s^2 / 2l`, with `s = relu(a) + relu(b)` and `l = |a| + |b|`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from t3cen.algebra.band import fine_orders, interpolation, mean_projection
from t3cen.ops.axes import along_axes, constant, exact
from t3cen.ops.operator import operator

CPU_PIECE, GPU_PIECE = 2**19, 2**24
"""Values on the finer grid that are made at a time: they fit a processor's cache, or a modest part of a GPU's memory."""
TINY = float(torch.finfo(torch.float32).tiny)
"""The least length of a piece that is divided by; far below the rounding of any other."""


def _in_pieces(plain: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same of a few images at a time, which the last tensor and perhaps others hold."""

    def run(*arguments: Any) -> Tensor:
        *tensors, orders, points = arguments
        f = tensors[-1]
        one = torch.Size(fine_orders(orders, points)).numel() * f.shape[2:].numel()
        count = max(1, (GPU_PIECE if f.is_cuda else CPU_PIECE) // max(one, 1))
        out = f.new_empty(f.shape)
        for parts in zip(*(t.split(count) for t in (out, *tensors)), strict=True):
            parts[0].copy_(plain(*parts[1:], orders, points))
        return out

    return run


def _fake(*arguments: Any) -> Tensor:
    return arguments[-3].new_empty(arguments[-3].shape)


def _backward(saved: list[Any], needed: Sequence[bool], gradient: Tensor) -> list[Tensor]:
    return [band_limited_relu_backward(gradient, *saved)]


@operator("band_limited_relu(Tensor f, int[] orders, int points) -> Tensor", backward=_backward, kernel=_in_pieces, fake=_fake)
def band_limited_relu(f: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """Interpolate to a finer grid, take ReLU's cell averages there, and project onto the band; gradients keep the input alone.

    Args:
        f: `(B, G, ...)`.
        orders: of the cyclic factors.
        points: points of an axis of the finer grid as a multiple of its order, at least 2.

    Returns:
        shaped like `f`, and in its precision.
    """
    fine = fine_orders(orders, points)
    up, down = (
        [constant(make, *of, like=f) for of in zip(orders, fine, strict=True)] for make in (interpolation, mean_projection)
    )
    # Less than float32 would leave more error than the aliasing.
    values = along_axes(up, f.to(exact(f.dtype))).unflatten(1, fine)
    return along_axes(down, averages(values, fine).flatten(1, len(fine))).to(f.dtype)


@operator(
    "band_limited_relu_backward(Tensor gradient, Tensor f, int[] orders, int points) -> Tensor", kernel=_in_pieces, fake=_fake
)
def band_limited_relu_backward(gradient: Tensor, f: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """From the gradient of the result to that of the function."""
    pull = torch.func.vjp(lambda f: band_limited_relu.plain(f, orders, points), f)[1]
    made: Tensor = pull(gradient)[0]
    return made


def averages(values: Tensor, orders: Sequence[int]) -> Tensor:
    """ReLU's averages over the cells of a grid on a torus: `(B, *orders, ...)`, to the same shape.

    The first entry belongs to the middle of the cell that begins at the first point.
    """
    axes = [axis for axis, order in enumerate(orders, 1) if order > 1]
    ends = [
        (torch.roll(values, [-c for c in corner], axes), torch.roll(values, [c - 1 for c in corner], axes))
        for corner in corners(orders)
    ]
    return functools.reduce(torch.add, (_average(*pair) for pair in ends)) / len(ends)


def _average(start: Tensor, end: Tensor) -> Tensor:
    positive = start.relu() + end.relu()
    return positive * (positive / (start.abs() + end.abs()).clamp_min(TINY)) / 2


def corners(orders: Sequence[int]) -> list[tuple[int, ...]]:
    """Where the diagonals of a cell begin, one end of each; axes of order 1 are none, and there must be others."""
    axes = sum(order > 1 for order in orders)
    return [(0, *rest) for rest in itertools.product((0, 1), repeat=axes - 1)]
