"""The matrices of `bilinear` as products of sparse ones: transforms of small orders as additions.

A matrix of `bilinear` takes a few sums and differences of cosine and sine parts. Those come axis by axis, as in any fast Fourier
transform, and products of an axis's cosines and sines add up to those of a frequency of several axes. For C4 x C4 x C4, 356
additions do the work of a dense 92 x 64 matrix; for orders 1, 2 and 4 every entry is 0, 1 or -1, but for one scale.
"""

from __future__ import annotations

import functools
import itertools
from typing import Literal, NamedTuple

import numpy as np

from t3cen.algebra.bilinear import Matrix, character, cyclic_convolution, snap

Name = Literal["signal", "filters", "output", "reversed_filters"]
Stage = list[Matrix]
"""Matrices applied first to last, which fall apart into small independent blocks."""


class Part(NamedTuple):
    """One real coordinate of the transform: the cosine or the sine part of a frequency."""

    frequency: tuple[int, ...]
    sine: bool


def stages(orders: tuple[int, ...], name: Name, transposed: bool = False) -> list[Stage]:
    """The matrix `name` of `cyclic_convolution(orders)`, or its transpose, as stages of sparse matrices, first to last."""
    matrix: Matrix = getattr(cyclic_convolution(orders), name)
    if name == "output":
        # (G, R), the transpose of one that takes parts of the transform like the others.
        matrix, transposed = matrix.T, not transposed
    chain, parts = _parts(orders)
    rows = _rows(parts, orders)
    # Rows of different parts are orthogonal, so the inverse is the transpose but for their lengths.
    chain = [*chain[:-1], [*chain[-1], snap(matrix @ (rows / (rows**2).sum(1, keepdims=True)).T)]]
    return [[m.T for m in reversed(stage)] for stage in reversed(chain)] if transposed else chain


def _parts(orders: tuple[int, ...]) -> tuple[list[Stage], list[Part]]:
    """All cosine and sine parts over the group: one stage an axis, and a last one that joins the axes."""
    size = int(np.prod(orders))
    chain: list[Stage] = []
    joins: Stage = []
    parts, before = [Part((), False)], 1
    for order in orders:
        after = size // (before * order)
        chain.append([beside(before, m, after) for m in _axis(order)])
        parts, join = _join(parts, _axis_parts(order))
        joins.append(beside(1, join, after))
        before *= order
    return [*filter(None, chain), joins], parts


def beside(before: int, matrix: Matrix, after: int) -> Matrix:
    """The matrix along one axis of an array that has `before` entries in front of it and `after` behind."""
    return np.asarray(np.kron(np.kron(np.eye(before), matrix), np.eye(after)), np.float64)


def _join(left: list[Part], right: list[Part]) -> tuple[list[Part], Matrix]:
    """Parts over a product of two groups, and the matrix that makes them from products of parts over each."""
    index = {pair: i for i, pair in enumerate(itertools.product(left, right))}
    parts: list[Part] = []
    rows: list[Matrix] = []

    def add(frequency: tuple[int, ...], sine: bool, *terms: tuple[float, bool, bool]) -> None:
        row = np.zeros(len(index))
        for sign, *sines in terms:
            row[index[Part(a, sines[0]), Part(b, sines[1])]] = sign
        parts.append(Part(frequency, sine))
        rows.append(row)

    for a, b in itertools.product(dict.fromkeys(p.frequency for p in left), dict.fromkeys(p.frequency for p in right)):
        pair_left, pair_right = Part(a, True) in left, Part(b, True) in right
        together = a + b
        if not (pair_left and pair_right):
            add(together, False, (1, False, False))
            if pair_left or pair_right:
                add(together, True, (1, pair_left, pair_right))
            continue
        # cos(x + y), sin(x + y), cos(x - y), sin(x - y); a difference of frequencies is told by its sign.
        add(together, False, (1, False, False), (-1, True, True))
        add(together, True, (1, True, False), (1, False, True))
        opposite = a + tuple(-i for i in b)
        add(opposite, False, (1, False, False), (1, True, True))
        add(opposite, True, (1, True, False), (-1, False, True))
    return parts, np.stack(rows)


def _axis_parts(order: int) -> list[Part]:
    return [Part((k,), sine) for k in range(order // 2 + 1) for sine in (False, True) if not sine or 0 < 2 * k < order]


@functools.cache
def _axis(order: int) -> Stage:
    """The parts over one cyclic group."""
    if order == 1:
        return []
    parts = _axis_parts(order)
    target = _rows(parts, (order,))
    if order % 2:
        return _folded(target)
    # Even frequencies see the sum of the two halves, odd ones the difference.
    half = order // 2
    fold = np.kron(np.array([[1, 1], [1, -1]]), np.eye(half))
    even = [i for i, part in enumerate(parts) if part.frequency[0] % 2 == 0]
    odd = [i for i, part in enumerate(parts) if part.frequency[0] % 2]
    place = np.eye(order)[:, np.argsort([*even, *odd])].T
    blocks = [_axis(half), _folded(target[odd, :half])]
    return [fold, *_side_by_side(blocks, half), place]


def _folded(target: Matrix) -> Stage:
    """A matrix whose rows are even or odd under `j -> -j`, up to a sign, from sums and differences of such pairs."""
    size = len(target)
    fold = np.eye(size)
    for j in range(1, (size + 1) // 2):
        fold[j, size - j], fold[size - j, j], fold[size - j, size - j] = 1, 1, -1
    return [fold, snap(target @ np.linalg.inv(fold))]


def _side_by_side(blocks: list[Stage], size: int) -> Stage:
    longest = max(map(len, blocks))
    first, second = ([*block, *[np.eye(size)] * (longest - len(block))] for block in blocks)
    zero = np.zeros((size, size))
    return [np.block([[a, zero], [zero, b]]) for a, b in zip(first, second, strict=True)]


def _rows(parts: list[Part], orders: tuple[int, ...]) -> Matrix:
    elements = list(itertools.product(*map(range, orders)))
    return np.stack([character(part.frequency, elements, orders)[part.sine] for part in parts])
