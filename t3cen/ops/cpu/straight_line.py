"""C source of a product of sparse matrices: additions on vectors of columns, one after the other."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from t3cen.algebra.bilinear import Matrix

MOST_ELEMENTS, MOST_SHARED = 128, 2048
"""Of a group, and entries of a block of a matrix whose sums are shared: with more, programs take seconds to write."""
Term = tuple[float, int]
"""A value of the program times a number."""


class Program(NamedTuple):
    """Values are numbered: first the inputs, then the sums; outputs are multiples of values."""

    inputs: int
    sums: list[list[Term]]
    outputs: list[Term]

    @property
    def additions(self) -> int:
        return sum(len(terms) - 1 for terms in self.sums)


def program(chain: list[Matrix]) -> Program:
    """Additions that apply matrices, first to last."""
    size, sums = chain[0].shape[1], list[list[Term]]()

    def combine(terms: list[Term]) -> Term:
        """A sum as a multiple of one whose first number is 1, so that scales and signs travel to the end."""
        if len(terms) == 1:
            return terms[0]
        scale = terms[0][0]
        sums.append([(number / scale, value) for number, value in terms])
        return scale, size + len(sums) - 1

    values: list[Term] = [(1.0, i) for i in range(size)]
    for matrix in chain:
        made: dict[int, Term] = {}
        for rows, columns in _blocks(matrix):
            own = [values[column] for column in columns]
            pairs, outputs = _shared(tuple(map(tuple, matrix[np.ix_(rows, columns)].tolist())))
            for terms in pairs:
                own.append(combine([(number * own[value][0], own[value][1]) for number, value in terms]))
            for row, terms in zip(rows, outputs, strict=True):
                made[row] = combine([(number * own[value][0], own[value][1]) for number, value in terms])
        values = [made[row] for row in range(len(matrix))]
    return Program(size, sums, values)


def _blocks(matrix: Matrix) -> Iterator[tuple[NDArray[np.int_], NDArray[np.int_]]]:
    """Rows, and the columns that they alone take; made together, so that few values are alive at a time."""
    left = np.ones(len(matrix), bool)
    while left.any():
        rows, more = np.zeros_like(left), np.arange(len(left)) == np.argmax(left)
        while (more != rows).any():
            rows = more
            columns = matrix[rows].any(0)
            more = matrix[:, columns].any(1)
        yield np.flatnonzero(rows), np.flatnonzero(columns)
        left &= ~rows


@functools.cache
def _shared(matrix: tuple[tuple[float, ...], ...]) -> tuple[list[list[Term]], list[list[Term]]]:
    """Sums of two terms that several rows hold, up to a number, the most frequent first; and the rows made of them.

    Source: Paar, "Optimized arithmetic for Reed-Solomon encoders", 1997.
    """
    rows, pairs, size = [{i: a for i, a in enumerate(row) if a} for row in matrix], list[list[Term]](), len(matrix[0])

    def held(row: dict[int, float]) -> Iterator[tuple[int, int, float]]:
        return ((i, j, round(row[j] / row[i], 9)) for i, j in itertools.combinations(sorted(row), 2))

    counts = Counter(itertools.chain.from_iterable(map(held, rows)))
    while counts and len(rows) * size <= MOST_SHARED and (most := max(counts.values())) > 1:
        best = min(pair for pair, count in counts.items() if count == most)
        i, j, _ = best
        pairs.append([])
        for row in rows:
            if i in row and j in row and best in held({i: row[i], j: row[j]}):
                counts.subtract(held(row))
                a, b = row.pop(i), row.pop(j)
                pairs[-1] = pairs[-1] or [(1.0, i), (b / a, j)]
                row[size + len(pairs) - 1] = a
                counts.update(held(row))
    return pairs, [[(a, i) for i, a in sorted(row.items())] for row in rows]


def statements(program: Program, read: str, write: str, name: str = "v") -> list[str]:
    """C that runs the program on vectors.

    Args:
        read, write: where input and output number `{}` are.
        name: begins the names of all values; no two programs in a row may share it.
    """
    lines = [f"const vector {name}{i} = {read.format(i)};" for i in range(program.inputs)]
    lines += [f"const vector {name}{i} = {_sum(terms, name)};" for i, terms in enumerate(program.sums, program.inputs)]
    return lines + [f"{write.format(row)} = {_product(*term, name)};" for row, term in enumerate(program.outputs)]


def _sum(terms: list[Term], name: str) -> str:
    first, *rest = terms
    signed = (f" {'-' if number < 0 else '+'} {_product(abs(number), value, name)}" for number, value in rest)
    return _product(*first, name) + "".join(signed)


def _product(number: float, value: int, name: str) -> str:
    if abs(number) == 1:
        return f"{name}{value}" if number > 0 else f"-{name}{value}"
    return f"(scalar){number!r} * {name}{value}"
