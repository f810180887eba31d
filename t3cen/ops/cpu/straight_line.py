"""C source of a matrix given as stages of sparse ones (`factors`): additions on vectors of columns, one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from t3cen.algebra.sparse_factors import Stage
from t3cen.ops.cpu.columns import Routine

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


def program(stages: list[Stage]) -> Program:
    """Additions that apply the product of all the matrices."""
    size = stages[0][0].shape[1]
    sums: list[list[Term]] = []
    known: dict[tuple[Term, ...], int] = {}

    def combine(terms: list[Term]) -> Term:
        """A sum as a multiple of one whose first number is 1, so that scales and signs travel to the end."""
        if len(terms) == 1:
            return terms[0]
        scale = terms[0][0]
        terms = [(number / scale, value) for number, value in terms]
        key = tuple(terms)
        if key not in known:
            known[key] = size + len(sums)
            sums.append(terms)
        return scale, known[key]

    values: list[Term] = [(1.0, i) for i in range(size)]
    for stage in stages:
        values = _apply(stage, values, combine)
    return Program(size, sums, values)


def statements(program: Program, read: str, write: str, name: str = "v") -> list[str]:
    """C that runs the program on vectors.

    Args:
        read, write: where input and output number `{}` are.
        name: begins the names of all values; no two programs in a row may share it.
    """
    lines = [f"const vector {name}{i} = {read.format(i)};" for i in range(program.inputs)]
    lines += [f"const vector {name}{i} = {_sum(terms, name)};" for i, terms in enumerate(program.sums, program.inputs)]
    return lines + [f"{write.format(row)} = {_product(*term, name)};" for row, term in enumerate(program.outputs)]


def routine(program: Program) -> Routine:
    """The program as all that is done to a column."""
    lines = statements(program, "x[{}][i]", "y[{}][i]")
    return Routine(program.inputs, 0, len(program.outputs), lines, program.additions)


def _apply(stage: Stage, values: list[Term], combine: Callable[[list[Term]], Term]) -> list[Term]:
    """A stage's outputs; those that share inputs are made together, so that few values are alive at a time."""
    if not stage:
        return values
    made: list[dict[int, Term]] = [{} for _ in stage]

    def value(level: int, row: int) -> Term:
        if level < 0:
            return values[row]
        if row not in made[level]:
            entries = stage[level][row]
            terms = [(entries[column], value(level - 1, column)) for column in map(int, np.flatnonzero(entries))]
            made[level][row] = combine([(float(entry * number), index) for entry, (number, index) in terms])
        return made[level][row]

    reach = functools.reduce(lambda before, matrix: np.abs(matrix) @ before, stage, np.eye(len(values)))
    for row in sorted(range(len(reach)), key=lambda row: int(np.flatnonzero(reach[row])[0])):
        value(len(stage) - 1, row)
    return [value(len(stage) - 1, row) for row in range(len(reach))]


def _sum(terms: list[Term], name: str) -> str:
    first, *rest = terms
    signed = (f" {'-' if number < 0 else '+'} {_product(abs(number), value, name)}" for number, value in rest)
    return _product(*first, name) + "".join(signed)


def _product(number: float, value: int, name: str) -> str:
    if abs(number) == 1:
        return f"{name}{value}" if number > 0 else f"-{name}{value}"
    return f"(scalar){number!r} * {name}{value}"
