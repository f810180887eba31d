"""The matrices of `bilinear` as products of sparse ones, as in any fast Fourier transform.

Cosine and sine parts come axis by axis. A last matrix makes of products of an axis's parts those of a frequency of several axes,
and of these the sums and differences that `bilinear` takes.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from t3cen.algebra.bilinear import Matrix, character, cyclic_convolution, snap

Name = Literal["signal", "filters", "output", "reversed_filters"]


def factors(orders: tuple[int, ...], name: Name, transposed: bool = False) -> list[Matrix]:
    """The matrix `name` of `cyclic_convolution(orders)`, or its transpose, as sparse matrices, first to last."""
    matrix: Matrix = getattr(cyclic_convolution(orders), name)
    if name == "output":
        # (G, R), the transpose of one that takes parts of the transform like the others.
        matrix, transposed = matrix.T, not transposed
    parts = [_parts(order) for order in orders]
    together = along_axes(parts)
    whole = np.eye(math.prod(orders))
    for factor in together:
        whole = factor @ whole
    # Rows of different parts are orthogonal, so the inverse is the transpose but for their lengths.
    chain = [*together, snap(matrix @ (whole / (whole**2).sum(1, keepdims=True)).T)]
    return transpose(chain) if transposed else chain


def along_axes(matrices: list[Matrix]) -> list[Matrix]:
    """One matrix along each axis of an array, first to last, as matrices on all its entries."""
    made, taken = zip(*(matrix.shape for matrix in matrices), strict=True) if matrices else ((), ())
    around = [(math.prod(made[:axis]), math.prod(taken[axis + 1 :])) for axis in range(len(matrices))]
    return [np.kron(np.kron(np.eye(a), matrix), np.eye(b)) for matrix, (a, b) in zip(matrices, around, strict=True)]


def transpose(chain: list[Matrix]) -> list[Matrix]:
    """The transpose of the product."""
    return [matrix.T for matrix in reversed(chain)]


def _parts(order: int) -> Matrix:
    """Cosine and sine parts over one cyclic group, a row each."""
    elements: list[tuple[int, ...]] = [(g,) for g in range(order)]
    waves = [(k, wave) for k in range(order // 2 + 1) for wave in character((k,), elements, (order,))]
    return np.stack([wave for _, wave in waves if wave.any()])
