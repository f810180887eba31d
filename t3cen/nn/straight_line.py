"""C source of a matrix given as stages of sparse ones (`factors`): additions on vectors of columns, one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from t3cen.nn.factors import Stage

Term = tuple[float, int]
"""A value of the program times a number."""

TILE_BYTES = 65536
"""A tile's rows, in and out: a part of a second-level cache. Measured for C4 x C4 x C4: 24 kB and 200 kB are slower."""
LONGEST_RUN_BYTES = 1024

# Rows are far apart, often by powers of two that share a cache set, so a tile's rows are copied together first. A tile that is
# not full is computed like any other: no result depends on where a column lies. The compiler may not fuse or reorder operations,
# so results do not depend on it either. Threads are those of the OpenMP runtime that PyTorch has loaded, if it has.
TEMPLATE = """\
#include <string.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif

typedef {scalar} scalar;
typedef scalar vector __attribute__((vector_size(BYTES)));
enum {{ IN = {columns}, OUT = {rows}, WIDTH = {width}, VECTORS = WIDTH * sizeof(scalar) / BYTES }};

static void program(vector x[IN][VECTORS], vector y[OUT][VECTORS]) {{
    for (int i = 0; i < VECTORS; i++) {{
{program}
    }}
}}

static void tile(const scalar *in, long in_row, scalar *out, long out_row, long count) {{
    vector x[IN][VECTORS], y[OUT][VECTORS];
    if (count < WIDTH) memset(x, 0, sizeof x);
    for (int r = 0; r < IN; r++) memcpy(x[r], in + r * in_row, count < WIDTH ? count * sizeof(scalar) : sizeof x[r]);
    program(x, y);
    for (int r = 0; r < OUT; r++) memcpy(out + r * out_row, y[r], count < WIDTH ? count * sizeof(scalar) : sizeof y[r]);
}}

struct job {{
    const scalar *in;
    scalar *out;
    long batch, count, in_batch, in_row, out_batch, out_row;
}};

extern void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned) __attribute__((weak));
extern int omp_get_thread_num(void) __attribute__((weak));
extern int omp_get_num_threads(void) __attribute__((weak));

static void part(const struct job *job, long index, long parts) {{
    const long tiles = (job->count + WIDTH - 1) / WIDTH, all = job->batch * tiles;
    for (long t = all * index / parts; t < all * (index + 1) / parts; t++) {{
        const long b = t / tiles, column = t % tiles * WIDTH, left = job->count - column;
        tile(job->in + b * job->in_batch + column, job->in_row, job->out + b * job->out_batch + column, job->out_row,
             left < WIDTH ? left : WIDTH);
    }}
}}

static void threaded(void *job) {{ part(job, omp_get_thread_num(), omp_get_num_threads()); }}

void mix(const scalar *in, scalar *out, long batch, long count, long in_batch, long in_row, long out_batch, long out_row,
         int threads) {{
    struct job job = {{in, out, batch, count, in_batch, in_row, out_batch, out_row}};
    if (threads > 1 && GOMP_parallel && omp_get_thread_num && omp_get_num_threads)
        GOMP_parallel(threaded, &job, threads, 0);
    else
        part(&job, 0, 1);
}}
"""


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


def source(program: Program, scalar: str) -> str:
    """C code of `void mix(in, out, batch, count, in_batch, in_row, out_batch, out_row, threads)`, for `float` or `double`.

    It runs the program on `batch` times `count` columns. A column's entries are rows apart, `in_row` and `out_row` elements;
    columns beside each other are contiguous.
    """
    rows = len(program.outputs)
    # Whole vectors, however wide they are.
    row_bytes = min(max(TILE_BYTES // (program.inputs + rows) // 64 * 64, 64), LONGEST_RUN_BYTES)
    lines = [f"const vector v{i} = x[{i}][i];" for i in range(program.inputs)]
    lines += [f"const vector v{i} = {_sum(terms)};" for i, terms in enumerate(program.sums, program.inputs)]
    lines += [f"y[{row}][i] = {_product(*term)};" for row, term in enumerate(program.outputs)]
    return TEMPLATE.format(
        scalar=scalar,
        columns=program.inputs,
        rows=rows,
        width=row_bytes // {"float": 4, "double": 8}[scalar],
        program="\n".join(f"        {line}" for line in lines),
    )


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


def _sum(terms: list[Term]) -> str:
    first, *rest = terms
    signed = (f" {'-' if number < 0 else '+'} {_product(abs(number), value)}" for number, value in rest)
    return _product(*first) + "".join(signed)


def _product(number: float, value: int) -> str:
    if abs(number) == 1:
        return f"v{value}" if number > 0 else f"-v{value}"
    return f"(scalar){number!r} * v{value}"
