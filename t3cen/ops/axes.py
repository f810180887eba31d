"""Matrices along the factors of a product of cyclic groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor


def along_axes(matrices: Sequence[Tensor], f: Tensor) -> Tensor:
    """Apply one matrix `(m_i, n_i)` along each factor of the group: `(B, n_1 n_2 ..., *rest)` -> `(B, m_1 m_2 ..., *rest)`."""
    batch, tail, done, left = f.shape[0], f.shape[2:], 1, math.prod(f.shape[1:])
    for matrix in matrices:
        rows, columns = matrix.shape
        left //= columns
        if rows > 1 or columns > 1:  # a factor of order 1 has nothing to mix; its matrix is 1
            # Factors already done are part of the batch, those to come part of the row.
            f = matrix.expand(batch * done, rows, columns).bmm(f.reshape(batch * done, columns, left))
        done *= rows
    return f.reshape(batch, done, *tail)
