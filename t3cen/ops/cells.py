"""ReLU's averages over the cells of a grid on a torus, and their derivatives.

A piece between the values a and b has the average `s^2 / 2l`, with `s = relu(a) + relu(b)` and `l = |a| + |b|`; `r = s / l` is
the share of it that is positive. The derivative in a is `r (2 - r) / 2` where a is positive, else `r^2 / 2`. Second derivatives
are `u v / l`, with `u = 1 - r` where a is positive, else r, and v of b likewise.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

TINY = float(torch.finfo(torch.float32).tiny)
"""The least length that is divided by; far below the rounding of any other."""

Pair = tuple[Tensor, Tensor]


def corners(orders: Sequence[int]) -> list[tuple[int, ...]]:
    """Where the diagonals of a cell begin, one end of each; axes of order 1 are none, and there must be others."""
    axes = sum(order > 1 for order in orders)
    return [(0, *rest) for rest in itertools.product((0, 1), repeat=axes - 1)]


def averages(values: Tensor, orders: Sequence[int]) -> Tensor:
    """ReLU's averages over the cells: `(B, *orders, ...)`, to the same shape.

    The first entry belongs to the middle of the cell that begins at the first point.
    """
    return functools.reduce(torch.add, (_average(*pair) for pair in ends(values, orders))) / len(corners(orders))


def _average(start: Tensor, end: Tensor) -> Tensor:
    return (start.relu() + end.relu()) * _share(start, end) / 2


def _share(start: Tensor, end: Tensor) -> Tensor:
    """How much of a straight piece is positive."""
    return (start.relu() + end.relu()) / length(start, end)


def length(start: Tensor, end: Tensor) -> Tensor:
    return (start.abs() + end.abs()).clamp_min(TINY)


def slopes(start: Tensor, end: Tensor) -> Pair:
    """The derivatives of the average in both ends."""
    r = _share(start, end)
    rising, falling = r * (2 - r) / 2, r * r / 2
    return torch.where(start > 0, rising, falling), torch.where(end > 0, rising, falling)


def bends(start: Tensor, end: Tensor) -> Pair:
    """Their products over the length are the second derivatives."""
    r = _share(start, end)
    return torch.where(start > 0, 1 - r, r), torch.where(end > 0, 1 - r, r)


def ends(values: Tensor, orders: Sequence[int]) -> Iterator[Pair]:
    """Both ends of every cell's diagonals, `(B, *orders, ...)`, one diagonal after the other."""
    axes = [axis for axis, order in enumerate(orders, 1) if order > 1]
    for corner in corners(orders):
        yield torch.roll(values, [-c for c in corner], axes), torch.roll(values, [c - 1 for c in corner], axes)


def ends_back(pairs: Iterable[Pair], orders: Sequence[int]) -> Tensor:
    """The transpose of `ends`."""
    axes = [axis for axis, order in enumerate(orders, 1) if order > 1]
    rolled = (
        torch.roll(start, corner, axes) + torch.roll(end, [1 - c for c in corner], axes)
        for corner, (start, end) in zip(corners(orders), pairs, strict=True)
    )
    return functools.reduce(torch.add, rolled)
