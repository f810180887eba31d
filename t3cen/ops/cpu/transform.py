"""The group transform on the CPU: additions along the group axis, compiled."""

from __future__ import annotations

import math

from torch import Tensor

from t3cen.algebra.sparse_factors import Name, factors
from t3cen.ops import transform
from t3cen.ops.axes import exact
from t3cen.ops.cpu import columns, straight_line
from t3cen.ops.operator import kernel_for

LEAST_SIZE = 2048
"""Numbers of one function; a matrix product of fewer costs as little."""
LEAST_COUNT = 4
"""Numbers of one of many functions; fewer leave most of a vector empty."""
MOST_ADDITIONS = 1200
"""Longer programs take too long to compile for what they save."""


def routine(orders: tuple[int, ...], name: Name, transposed: bool, count: int | None = None) -> columns.Routine | None:
    """A matrix of `cyclic_convolution(orders)`, or its transpose; `count` columns a function, where many have few."""
    if math.prod(orders) > straight_line.MOST_ELEMENTS:
        return None
    program = straight_line.program(factors(orders, name, transposed))
    statements = straight_line.statements(program, "x[{}][i]", "y[{}][i]")
    made = columns.Routine(program.inputs, 0, len(program.outputs), statements, columns=count)
    return made if program.additions <= MOST_ADDITIONS else None


def apply(f: Tensor, orders: list[int], name: Name, transposed: bool, out: Tensor | None = None) -> Tensor:
    """A matrix along the group axis of `(B, G, N)`, N large; written to `out` if there is one, `(B, R, N)` of any precision."""
    f = f.to(exact(f.dtype))
    kernel = columns.compiled(routine, tuple(orders), name, transposed, dtype=f.dtype) if f[:1].numel() >= LEAST_SIZE else None
    if kernel is None:
        made = transform.group_transform.plain(f, orders, name, transposed, False)
        return made if out is None else out.copy_(made)
    if out is None or (out.dtype == f.dtype and out.stride(2) == 1):
        return kernel(f, out)
    return out.copy_(kernel(f))


def _group_transform(f: Tensor, orders: list[int], name: Name, transposed: bool, rows_first: bool) -> Tensor:
    """`ops.transform.group_transform`: one function of many numbers, or many of few as filters are."""
    if not rows_first and f[:1].numel() >= LEAST_SIZE:
        return apply(f, orders, name, transposed)
    f = f.to(exact(f.dtype))
    many, _, count = f.shape
    kernel = None
    if count >= LEAST_COUNT and f.numel() >= LEAST_SIZE:
        kernel = columns.compiled(routine, tuple(orders), name, transposed, count, dtype=f.dtype)
    if kernel is None:
        # All as one function, whose numbers are many.
        together = f.transpose(0, 1).reshape(1, -1, many * count)
        rows = apply(together, orders, name, transposed)[0].unflatten(1, (many, count))
        return rows if rows_first else rows.transpose(0, 1).contiguous()
    if not rows_first:
        return kernel(f)
    out = f.new_empty(kernel.rows, many, count)
    kernel(f, out.transpose(0, 1))
    return out


kernel_for("CPU", "group_transform", _group_transform)
