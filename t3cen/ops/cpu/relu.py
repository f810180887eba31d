"""ReLU of band-limited functions by its mean along straight pieces, which folds far less into the band than its values do.

The function is known at Q points of an axis, and taken as straight between neighbours. ReLU has a closed mean along a straight
piece, and the means of all pieces are samples of its result after a moving average one piece long. So there is a filter in front
of the sampling: what would fold onto frequency k comes from `Q - k` and is multiplied by `sinc((Q - k) / Q)`, about `k / Q`.

On several axes a piece is a diagonal of a cell of the grid. All `2^(axes - 1)` diagonals are averaged: of a function that is
positive everywhere, frequency k is then multiplied by `cos(pi k / Q)` of each axis, which `mean_projection` divides by. So that
function comes back as it was, as from ReLU itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from t3cen.algebra.band import fine_orders, interpolation, mean_projection
from t3cen.algebra.bilinear import Matrix, snap
from t3cen.algebra.sparse_factors import Stage, beside
from t3cen.ops.cpu import columns, kernels, straight_line

TINY = float(torch.finfo(torch.float32).tiny)
"""Added to a length that may be zero; far below the rounding of any other."""


def means(values: Tensor, orders: Sequence[int]) -> Tensor:
    """ReLU's means over the diagonals of every cell: `(B, Q, ...)` on a grid of these orders, to the same shape.

    Entry j belongs to the middle of the cell that begins at point j.
    """
    grid = values.unflatten(1, tuple(orders))
    axes = [axis for axis, order in enumerate(orders, 1) if order > 1]
    found = []
    for corner in _corners(len(axes)):
        start = torch.roll(grid, [-c for c in corner], axes)
        end = torch.roll(grid, [c - 1 for c in corner], axes)
        found.append(_mean(start, end))
    return (sum(found[1:], found[0]) / len(found)).flatten(1, len(orders))


def _mean(start: Tensor, end: Tensor) -> Tensor:
    """The mean of ReLU of a straight piece between two values."""
    positive = start.relu() + end.relu()
    # |a| + |b|, and the share of it that is positive: the length of the positive part where the signs differ, else 1 or 0.
    length = 2 * positive - (start + end) + TINY
    return positive * (positive / length) / 2


def _corners(axes: int) -> list[tuple[int, ...]]:
    """Where the diagonals of a cell begin, one end of each."""
    return [(0, *rest) for rest in itertools.product((0, 1), repeat=axes - 1)]


@dataclass(frozen=True)
class Rectified(kernels.Recipe):
    """Interpolation, means and projection in one go, or the gradient of all that: a recipe of `kernels`.

    The forward pass takes functions on the group, the backward pass those and the gradient of the result.
    """

    points: int
    backward: bool = False
    most_additions = 6000  # 5616, for three axes of order 3 at Q = 3N, take 4 s to compile
    least_size = 1

    def routine(self) -> columns.Routine:
        fine = fine_orders(self.orders, self.points)
        size, entries = math.prod(self.orders), math.prod(fine)
        corners = _corners(sum(n > 1 for n in fine))
        up = _stage([interpolation(n, q) for n, q in zip(self.orders, fine, strict=True)])
        down = _stage([mean_projection(n, q) for n, q in zip(self.orders, fine, strict=True)])
        down[-1] = down[-1] / (2 * len(corners))  # two for the triangle's area
        stages = [up, _transposed(down), _transposed(up)] if self.backward else [up, down]
        programs = [straight_line.program([stage]) for stage in stages]
        opening = straight_line.statements(programs[0], "x[{}][i]", "p[{}]", "u")
        if self.backward:
            opening += straight_line.statements(programs[1], f"x[{size} + {{}}][i]", "g[{}]", "v")
        statements = [
            f"vector p[{entries}], g[{entries}], m[{entries}];",
            *opening,
            f"for (int j = 0; j < {entries}; j++) m[j] = (vector){{0}};",
            f"for (int c = 0; c < {len(corners)}; c++) for (int j = 0; j < {entries}; j++) {{",
            *_PIECE,
            *(_BACKWARD if self.backward else _FORWARD),
            "}",
            *straight_line.statements(programs[-1], "m[{}]", "y[{}][i]", "w"),
        ]
        declarations = [
            _table("starts", [_shifted(fine, corner) for corner in corners]),
            _table("ends", [_shifted(fine, [1 - c for c in corner]) for corner in corners]),
            "static vector positive(vector a) { return (vector)((bits)a & (a > 0)); }",
        ]
        additions = sum(program.additions for program in programs)
        return columns.Routine(size, size * self.backward, size, statements, additions, "\n".join(declarations))


_PIECE = [
    "    const vector a = p[starts[c][j]], b = p[ends[c][j]], s = positive(a) + positive(b);",
    f"    const vector r = s / (s + s - (a + b) + (scalar){TINY!r});",
]
_FORWARD = ["    m[j] += s * r;"]
_BACKWARD = [
    "    const vector t = g[j] * r * r, d = g[j] * r * 2 - t;",
    "    m[starts[c][j]] += (vector)(((bits)d & (a > 0)) | ((bits)t & ~(a > 0)));",
    "    m[ends[c][j]] += (vector)(((bits)d & (b > 0)) | ((bits)t & ~(b > 0)));",
]


def _stage(matrices: list[Matrix]) -> Stage:
    """One matrix along each axis of the group, first to last."""
    made, taken = zip(*(matrix.shape for matrix in matrices), strict=True)
    return [snap(beside(math.prod(made[:axis]), matrix, math.prod(taken[axis + 1 :]))) for axis, matrix in enumerate(matrices)]


def _transposed(stage: Stage) -> Stage:
    return [matrix.T for matrix in reversed(stage)]


def _shifted(orders: Sequence[int], corner: Sequence[int]) -> list[int]:
    """Of every point of the grid, the number of the one that lies `corner` further; axes of order 1 have no corner."""
    grid = np.arange(math.prod(orders)).reshape(orders)
    axes = [axis for axis, order in enumerate(orders) if order > 1]
    return [int(i) for i in np.roll(grid, [-c for c in corner], axes).flat]


def _table(name: str, rows: list[list[int]]) -> str:
    inside = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows)
    return f"static const int {name}[{len(rows)}][{len(rows[0])}] = {{{inside}}};"
