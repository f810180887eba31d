"""The group transform: a matrix of the bilinear algorithm (`algebra.bilinear`), applied along the group axis."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from t3cen.algebra.bilinear import cyclic_convolution
from t3cen.algebra.sparse_factors import Name
from t3cen.ops.operator import operator

_MATRICES: dict[tuple[Any, ...], Tensor] = {}


def matrix(orders: tuple[int, ...], name: Name, transposed: bool, like: Tensor) -> Tensor:
    """A matrix of `cyclic_convolution(orders)`, or its transpose, on the device of `like`; float64 if that is, else float32."""
    key = (*orders, name, transposed, exact(like.dtype), like.device)
    # A tracer's tensors are its own, so nothing made for them is kept.
    if type(like) in (Tensor, nn.Parameter) and key in _MATRICES:
        return _MATRICES[key]
    values = getattr(cyclic_convolution(orders), name)
    made = torch.as_tensor(values.T if transposed else values, dtype=exact(like.dtype), device=like.device).contiguous()
    if type(like) in (Tensor, nn.Parameter):
        _MATRICES[key] = made
    return made


def exact(dtype: torch.dtype) -> torch.dtype:
    """The precision of a transform: rounding before or between transforms would cost equivariance."""
    return torch.promote_types(dtype, torch.float32)


def reference(f: Tensor, orders: list[int], name: Name, transposed: bool, rows_first: bool) -> Tensor:
    """`group_transform` as a matrix product, in plain differentiable operations."""
    fixed, f = matrix(tuple(orders), name, transposed, f), f.to(exact(f.dtype))
    if rows_first:
        return (fixed @ f.transpose(0, 1).flatten(1)).unflatten(1, (f.shape[0], f.shape[2]))
    return torch.bmm(fixed.expand(f.shape[0], -1, -1), f)


def _fake(f: Tensor, orders: list[int], name: Name, transposed: bool, rows_first: bool) -> Tensor:
    (batch, _, count), rows = f.shape, rank(orders) if (name == "output") == transposed else torch.Size(orders).numel()
    return f.new_empty((rows, batch, count) if rows_first else (batch, rows, count), dtype=exact(f.dtype))


def rank(orders: list[int] | tuple[int, ...]) -> int:
    """R, the number of products of the bilinear algorithm."""
    return cyclic_convolution(tuple(orders)).rank


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> tuple[()]:
    f, *ctx.which, ctx.rows_first = inputs
    ctx.dtype = f.dtype
    return ()


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    orders, name, transposed = ctx.which
    back = group_transform(gradient.transpose(0, 1) if ctx.rows_first else gradient, orders, name, not transposed, False)
    return back.to(ctx.dtype), None, None, None, None


def _tangent(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
    return group_transform(tangent, *ctx.which, ctx.rows_first)


def _batched(info: Any, in_dims: tuple[Any, ...], f: Tensor, *which: Any) -> tuple[Tensor, int]:
    axis = 1 if which[-1] else 0
    together = group_transform(f.movedim(in_dims[0], 0).flatten(0, 1), *which)
    return together.unflatten(axis, (info.batch_size, -1)), axis


def _flops(f: Any, orders: list[int], *_: Any, **__: Any) -> int:
    batch, _, count = f
    return 2 * batch * count * rank(orders) * torch.Size(orders).numel()


@operator(
    "group_transform(Tensor f, int[] orders, str name, bool transposed, bool rows_first) -> Tensor",
    fake=_fake,
    save=_save,
    backward=_backward,
    tangent=_tangent,
    batched=_batched,
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
    return reference(f, orders, name, transposed, rows_first)
