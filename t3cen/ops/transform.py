"""The group transform: a matrix of the bilinear algorithm (`algebra.bilinear`), applied along the group axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from t3cen.algebra.bilinear import Matrix, cyclic_convolution
from t3cen.algebra.sparse_factors import Name
from t3cen.ops.axes import constant, exact
from t3cen.ops.operator import operator


def matrix(orders: tuple[int, ...], name: Name, transposed: bool, like: Tensor) -> Tensor:
    """A matrix of `cyclic_convolution(orders)`, or its transpose, on the device of `like`; float64 if that is, else float32."""
    return constant(_values, orders, name, transposed, like=like)


def _values(orders: tuple[int, ...], name: Name, transposed: bool) -> Matrix:
    values: Matrix = getattr(cyclic_convolution(orders), name)
    return values.T if transposed else values


def rank(orders: list[int] | tuple[int, ...]) -> int:
    """R, the number of products of the bilinear algorithm."""
    return cyclic_convolution(tuple(orders)).rank


def _backward(saved: list[Any], needed: Sequence[bool], gradient: Tensor) -> list[Tensor]:
    f, orders, name, transposed, rows_first = saved
    gradient = gradient.transpose(0, 1) if rows_first else gradient
    return [group_transform(gradient, orders, name, not transposed, False).to(f.dtype)]


def _flops(f: Any, orders: list[int], *_: Any, **__: Any) -> int:
    batch, _, count = f
    return 2 * batch * count * rank(orders) * torch.Size(orders).numel()


@operator(
    "group_transform(Tensor f, int[] orders, str name, bool transposed, bool rows_first) -> Tensor",
    backward=_backward,
    flops=_flops,
)
def group_transform(f: Tensor, orders: list[int], name: Name, transposed: bool, rows_first: bool) -> Tensor:
    """Apply an `(R, G)` matrix along the group axis.

    Args:
        f: `(B, G, N)`.
        orders: of the cyclic factors.
        name: which matrix of `cyclic_convolution(orders)`.
        transposed: whether its transpose is applied.
        rows_first: whether the result is `(R, B, N)` in place of `(B, R, N)`.

    Returns:
        float64 if `f` is, else float32.
    """
    fixed, f = matrix(tuple(orders), name, transposed, f), f.to(exact(f.dtype))
    if rows_first:
        return (fixed @ f.transpose(0, 1).flatten(1)).unflatten(1, (f.shape[0], f.shape[2]))
    return torch.bmm(fixed.expand(f.shape[0], -1, -1), f)
