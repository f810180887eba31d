"""ReLU by its cell averages on the CPU: interpolation, averages and projection of a column in one compiled loop (`ops.relu`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from t3cen.algebra.band import fine_orders, interpolation, mean_projection
from t3cen.algebra.bilinear import snap
from t3cen.algebra.sparse_factors import along_axes, transpose
from t3cen.ops import relu
from t3cen.ops.axes import exact
from t3cen.ops.cpu import columns, straight_line
from t3cen.ops.operator import kernel_for

MOST_ADDITIONS = 6000
"""5616, for three axes of order 3 at Q = 3N, take 4 s to compile."""


def routine(orders: tuple[int, ...], points: int, backward: bool = False) -> columns.Routine | None:
    """`band_limited_relu`, or its gradient, which takes functions and the gradient of the result."""
    fine = fine_orders(orders, points)
    size, entries, corners = math.prod(orders), math.prod(fine), relu.corners(fine)
    if size > straight_line.MOST_ELEMENTS:
        return None
    up, down = (
        [snap(m) for m in along_axes([make(n, q) for n, q in zip(orders, fine, strict=True)])]
        for make in (interpolation, mean_projection)
    )
    down[-1] = down[-1] / (2 * len(corners))  # two for the triangle's area
    chains = [up, transpose(down), transpose(up)] if backward else [up, down]
    programs = [straight_line.program(chain) for chain in chains]
    if sum(program.additions for program in programs) > MOST_ADDITIONS:
        return None
    opening = straight_line.statements(programs[0], "x[{}][i]", "p[{}]", "u")
    if backward:
        opening += straight_line.statements(programs[1], f"x[{size} + {{}}][i]", "g[{}]", "v")
    statements = [
        f"vector p[{entries}], m[{entries}]{f', g[{entries}]' if backward else ''};",
        *opening,
        f"for (int j = 0; j < {entries}; j++) m[j] = (vector){{0}};",
        f"for (int c = 0; c < {len(corners)}; c++) for (int j = 0; j < {entries}; j++) {{",
        *_PIECE,
        *(_BACKWARD if backward else _FORWARD),
        "}",
        *straight_line.statements(programs[-1], "m[{}]", "y[{}][i]", "w"),
    ]
    declarations = [
        _table("starts", [_shifted(fine, corner) for corner in corners]),
        _table("ends", [_shifted(fine, [1 - c for c in corner]) for corner in corners]),
        "static vector positive(vector a) { return (vector)((bits)a & (a > 0)); }",
    ]
    return columns.Routine(size, size * backward, size, statements, "\n".join(declarations))


_PIECE = [
    "    const vector a = p[starts[c][j]], b = p[ends[c][j]], s = positive(a) + positive(b);",
    f"    const vector r = s / (s + s - (a + b) + (scalar){relu.TINY!r});",
]
_FORWARD = ["    m[j] += s * r;"]
_BACKWARD = [
    "    const vector t = g[j] * r * r, d = g[j] * r * 2 - t;",
    "    m[starts[c][j]] += (vector)(((bits)d & (a > 0)) | ((bits)t & ~(a > 0)));",
    "    m[ends[c][j]] += (vector)(((bits)d & (b > 0)) | ((bits)t & ~(b > 0)));",
]


def _shifted(orders: Sequence[int], corner: Sequence[int]) -> list[int]:
    """Of every point of the grid, the number of the one that lies `corner` further; axes of order 1 have no corner."""
    grid = np.arange(math.prod(orders)).reshape(orders)
    axes = [axis for axis, order in enumerate(orders) if order > 1]
    return [int(i) for i in np.roll(grid, [-c for c in corner], axes).flat]


def _table(name: str, rows: list[list[int]]) -> str:
    inside = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows)
    return f"static const int {name}[{len(rows)}][{len(rows[0])}] = {{{inside}}};"


def _band_limited_relu(f: Tensor, orders: list[int], points: int) -> Tensor:
    kernel = columns.compiled(routine, tuple(orders), points, dtype=exact(f.dtype))
    return _by_columns(kernel, f) if kernel else relu.band_limited_relu.kernel(f, orders, points)


def _band_limited_relu_backward(gradient: Tensor, f: Tensor, orders: list[int], points: int) -> Tensor:
    kernel = columns.compiled(routine, tuple(orders), points, True, dtype=exact(f.dtype))
    return _by_columns(kernel, f, gradient) if kernel else relu.band_limited_relu_backward.kernel(gradient, f, orders, points)


def _by_columns(kernel: columns.Kernel, f: Tensor, gradient: Tensor | None = None) -> Tensor:
    """The kernel of `(B, G, ...)` in single precision at least."""
    flat = (*f.shape[:2], f.shape[2:].numel())
    functions, *more = (t.to(exact(f.dtype)).reshape(flat) for t in (f, gradient) if t is not None)
    out = f.new_empty(f.shape, dtype=exact(f.dtype))
    kernel(functions, out.view(flat), *more)
    return out.to(f.dtype)


kernel_for("CPU", "band_limited_relu", _band_limited_relu)
kernel_for("CPU", "band_limited_relu_backward", _band_limited_relu_backward)
