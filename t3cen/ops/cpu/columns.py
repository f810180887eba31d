"""Compiled functions of columns: a few numbers in, a few out, the same for every column of a matrix, many at a time."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Hashable
from typing import NamedTuple

import torch
from torch import Tensor

from t3cen.ops import kernels
from t3cen.ops.cpu import build

SCALARS = {torch.float32: "float", torch.float64: "double"}
LEAST_PER_THREAD = 2**15
TILE_BYTES = 98304
"""A tile's rows, in and out: a part of a second-level cache. Measured for C4 x C4 x C4: 24 kB and 200 kB are slower."""
LONGEST_RUN_BYTES = 1024

# Rows are far apart, often by powers of two that share a cache set, so a tile's rows are copied together first. A tile that is
# not full is computed like any other: no result depends on where a column lies. The compiler may not fuse or reorder operations,
# so results do not depend on it either. Comparisons of vectors give all bits set or none.
TEMPLATE = """\
#include "native.h"

typedef {scalar} scalar;
typedef scalar vector __attribute__((vector_size(BYTES)));
typedef {bits} bits __attribute__((vector_size(BYTES)));
enum {{ IN = {inputs}, MORE = {more}, OUT = {rows}, WIDTH = {width}, VECTORS = WIDTH * sizeof(scalar) / BYTES }};

{declarations}
static void program(vector x[IN + MORE][VECTORS], vector y[OUT][VECTORS]) {{
    for (int i = 0; i < VECTORS; i++) {{
{statements}
    }}
}}

struct matrix {{
    scalar *start;
    long batch, row;
}};

struct job {{
    struct matrix in, more, out;
    long batch, count;
}};

static scalar *place(struct matrix matrix, long b, long row, long column) {{
    return matrix.start + b * matrix.batch + row * matrix.row + column;
}}

#define fetch(start, write) \\
    for (int k = 0; k < WIDTH; k += 64 / sizeof(scalar)) __builtin_prefetch((start) + k, write, 2)

/* A row of a tile, while that of the next tile is on its way: too many rows for the processor to foresee. */
static void take(vector *to, const scalar *from, size_t bytes) {{
    memcpy(to, from, bytes);
    fetch(from + WIDTH, 0);
}}

static void tile(const struct job *job, long b, long column) {{
    vector x[IN + MORE][VECTORS], y[OUT][VECTORS];
    const long left = {count} - column;
    const size_t bytes = (left < WIDTH ? left : WIDTH) * sizeof(scalar);
    if (left < WIDTH) memset(x, 0, sizeof x);
    for (int r = 0; r < IN; r++) take(x[r], place(job->in, b, r, column), bytes);
    for (int r = 0; r < MORE; r++) take(x[IN + r], place(job->more, b, r, column), bytes);
    for (int r = 0; r < OUT; r++) fetch(place(job->out, b, r, column), 1);
    program(x, y);
    for (int r = 0; r < OUT; r++) memcpy(place(job->out, b, r, column), y[r], bytes);
}}

static void part(const void *of, long index, long parts) {{
    const struct job *job = of;
    const long tiles = (job->count + WIDTH - 1) / WIDTH, all = job->batch * tiles;
    for (long t = all * index / parts; t < all * (index + 1) / parts; t++) tile(job, t / tiles, t % tiles * WIDTH);
}}

void mix(struct matrix in, struct matrix more, struct matrix out, long batch, long count, int threads) {{
    struct job job = {{in, more, out, batch, count}};
    in_parts(part, &job, threads);
}}
"""


class Routine(NamedTuple):
    """What is done to a column.

    Attributes:
        inputs, more: numbers taken from the first matrix and from the second, which most have not.
        rows: numbers given back.
        statements: C with the inputs, first matrix first, as `x[...][i]` and the results as `y[...][i]`, all of type `vector`.
        declarations: C in front of it.
        columns: of a matrix, where that is known; None for any number.
    """

    inputs: int
    more: int
    rows: int
    statements: list[str]
    declarations: str = ""
    columns: int | None = None


def source(routine: Routine, scalar: str) -> str:
    """C code of `void mix(in, more, out, batch, count, threads)`, for `float` or `double`.

    It runs the routine on `batch` times `count` columns. A matrix is its first element and how many elements lie between those
    of a batch and of a row; columns beside each other are contiguous.
    """
    count = routine.columns
    size = {"float": 4, "double": 8}[scalar]
    # Whole vectors, however wide they are.
    longest = LONGEST_RUN_BYTES if count is None else min(-(-count * size // 64) * 64, LONGEST_RUN_BYTES)
    row_bytes = min(max(TILE_BYTES // (routine.inputs + routine.more + routine.rows) // 64 * 64, 64), longest)
    return TEMPLATE.format(
        scalar=scalar,
        bits={"float": "int", "double": "long long"}[scalar],
        inputs=routine.inputs,
        more=routine.more,
        rows=routine.rows,
        width=row_bytes // size,
        count="job->count" if count is None else count,
        declarations=routine.declarations,
        statements="\n".join(f"        {line}" for line in routine.statements),
    )


class _Matrix(ctypes.Structure):
    """`struct matrix` of the template."""

    _fields_ = [("start", ctypes.c_void_p), ("batch", ctypes.c_long), ("row", ctypes.c_long)]

    @classmethod
    def of(cls, tensor: Tensor) -> _Matrix:
        return cls(tensor.data_ptr(), *tensor.stride()[:2])


class Kernel:
    """A compiled routine."""

    def __init__(self, function: Callable[..., None], rows: int) -> None:
        self._function, self.rows = function, rows

    def __call__(self, functions: Tensor, out: Tensor | None = None, more: Tensor | None = None) -> Tensor:
        """`(B, G, N)`, with as many columns of `more` where the routine takes two matrices, to `(B, R, N)`.

        Written to `out` if there is one: of the same type, with contiguous columns.
        """
        batch, _, count = functions.shape
        out = functions.new_empty(batch, self.rows, count) if out is None else out
        taken = [t if t.stride(2) == 1 else t.contiguous() for t in (functions, functions if more is None else more)]
        self._function(*map(_Matrix.of, (*taken, out)), batch, count, threads_for(functions))
        return out


def threads_for(f: Tensor) -> int:
    """As many as have enough to do."""
    return min(torch.get_num_threads(), max(1, f.numel() // LEAST_PER_THREAD))


def compiled(make: Callable[..., Routine | None], *arguments: Hashable, dtype: torch.dtype) -> Kernel | None:
    """The kernel of `make(*arguments)`; None where there is none: another precision, too long a program, no compiled code here.

    Raises:
        UnavailableError: kernels are `"on"` and the compiler fails.
    """
    return _compiled(make, arguments, dtype, kernels.mode()) if dtype in SCALARS and kernels.mode() != "off" else None


@functools.cache
def _compiled(
    make: Callable[..., Routine | None], arguments: tuple[Hashable, ...], dtype: torch.dtype, mode: str
) -> Kernel | None:
    routine = make(*arguments)
    library = None if routine is None else build.load(source(routine, SCALARS[dtype]))
    if routine is None or library is None:
        return None
    library.mix.argtypes, library.mix.restype = [*[_Matrix] * 3, *[ctypes.c_long] * 2, ctypes.c_int], None
    return Kernel(library.mix, routine.rows)
