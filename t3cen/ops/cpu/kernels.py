"""What runs compiled along the group axis: what is done to real CPU tensors, where there is a C compiler.

Everything else is PyTorch's own operations, with the same result to rounding. `use("off")`, or `T3CEN_KERNELS=off` in the
environment, makes everything that; with `"on"` a compiler that is missing is an error, and with `"auto"`, the default, it is not.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor
from torch.autograd import forward_ad

from t3cen.algebra.sparse_factors import Name, stages
from t3cen.ops.cpu import build, columns, straight_line

MODES = ("auto", "on", "off")
VARIABLE = "T3CEN_KERNELS"
SCALARS = {torch.float32: "float", torch.float64: "double"}
MOST_ELEMENTS = 128
"""Programs for larger groups take seconds to write."""
LEAST_PER_THREAD = 2**15

log = logging.getLogger(__name__)
_chosen: list[str] = []


@dataclass(frozen=True)
class Recipe(ABC):
    """A thing to compile, by what tells it from others.

    Attributes:
        orders: those of the group.
        most_additions: longer programs take too long to compile for what they save.
        least_size: elements of one function, below which PyTorch's own operations cost as little; an axis for the batch does
            not count.
    """

    orders: tuple[int, ...]
    most_additions: ClassVar[int]
    least_size: ClassVar[int]

    @abstractmethod
    def routine(self) -> columns.Routine:
        """How it is done."""

    def source(self, scalar: str) -> str:
        """The C code of that, for `float` or `double`."""
        return columns.source(self.routine(), scalar)

    def small(self, functions: Tensor) -> bool:
        """Whether PyTorch's own operations cost as little for these functions, `(B, G, N)`."""
        return functions[:1].numel() < self.least_size


@dataclass(frozen=True)
class Which(Recipe):
    """A matrix of `bilinear.cyclic_convolution(orders)`, or its transpose.

    Attributes:
        count: columns of a function, where many functions have few; None for any number.
    """

    name: Name
    transposed: bool = False
    count: int | None = None
    most_additions = 1200
    least_size = 2048

    @property
    def T(self) -> Which:
        return replace(self, transposed=not self.transposed)

    def small(self, functions: Tensor) -> bool:
        return super().small(functions if self.count is None else functions[None])

    def source(self, scalar: str) -> str:
        return columns.source(self.routine(), scalar, self.count)

    def routine(self) -> columns.Routine:
        return straight_line.routine(straight_line.program(stages(self.orders, self.name, self.transposed)))


def use(mode: str) -> None:
    """Say how transforms on the CPU run from now on in this process: `"auto"`, `"on"` or `"off"`.

    Raises:
        ValueError: another word.
    """
    if mode not in MODES:
        raise ValueError(f"{VARIABLE}, or kernels.use, must be one of {', '.join(MODES)}, got {mode!r}")
    _chosen[:] = [mode]


def mode() -> str:
    """What was last chosen, or the environment's choice."""
    if not _chosen:
        use(os.environ.get(VARIABLE) or "auto")
    return _chosen[0]


def watched() -> bool:
    """Whether somebody records or counts the operations: they see the algorithm's own, not what this machine makes of them."""
    return torch._C._len_torch_dispatch_stack() > 0


def status() -> str:
    """What runs transforms on the CPU here, in words; compiles a small one to know."""
    if mode() == "off":
        return "matrix products: switched off"
    _, reason = _made(Which((2,), "signal"), torch.float32)
    return f"matrix products: {reason}" if reason else f"compiled: {build.compiler_version()}"


def find(recipe: Recipe, functions: Tensor, *more: Tensor) -> Kernel | None:
    """The kernel for these functions, `(B, G, N)`, and those it takes beside them; None if they are left to PyTorch."""
    if functions.dtype not in SCALARS or recipe.small(functions) or not all(map(in_reach, (functions, *more))):
        return None
    kernel, reason = _made(recipe, functions.dtype)
    if kernel is None:
        do_without(f"nothing for {recipe.orders}", reason)
    return kernel


def do_without(what: str, reason: str) -> None:
    """Leave to PyTorch what cannot be compiled.

    Raises:
        UnavailableError: kernels are `"on"`.
    """
    if mode() == "on":
        raise build.UnavailableError(f"{what} can be compiled, and kernels are 'on': {reason}")


class _Matrix(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("batch", ctypes.c_long), ("row", ctypes.c_long)]

    @classmethod
    def of(cls, tensor: Tensor) -> _Matrix:
        return cls(tensor.data_ptr(), *tensor.stride()[:2])


class Kernel:
    """A compiled recipe."""

    def __init__(self, function: Callable[..., None], rows: int) -> None:
        self._function, self._rows = function, rows

    def __call__(self, functions: Tensor, out: Tensor | None = None, more: Tensor | None = None) -> Tensor:
        """`(B, G, N)`, with as many columns of `more` where the recipe takes two, to `(B, R, N)`.

        Written to `out` if there is one: of the same type, with contiguous columns. Nothing is recorded for gradients.
        """
        functions = _by_columns(functions)
        batch, _, count = functions.shape
        out = functions.new_empty(batch, self._rows, count) if out is None else out
        second = None if more is None else _by_columns(more)
        threads = min(torch.get_num_threads(), max(1, functions.numel() // LEAST_PER_THREAD))
        seconds = _Matrix() if second is None else _Matrix.of(second)
        self._function(_Matrix.of(functions), seconds, _Matrix.of(out), batch, count, threads)
        return out


def _by_columns(functions: Tensor) -> Tensor:
    return functions if functions.stride(2) == 1 else functions.contiguous()


def in_reach(tensor: Tensor) -> bool:
    """Whether compiled code may have it: there is memory to read, and nobody records or rewrites the operations on it."""
    if tensor.device.type != "cpu" or torch.compiler.is_compiling() or torch.jit.is_tracing():
        return False
    plain = type(tensor) is Tensor and tensor.layout == torch.strided and not tensor.is_neg()
    dual = forward_ad._current_level >= 0 or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    batched = torch._C._functorch.is_legacy_batchedtensor(tensor)
    return plain and not dual and not batched and not watched() and mode() != "off"


@functools.cache
def _made(recipe: Recipe, dtype: torch.dtype) -> tuple[Kernel | None, str]:
    """The kernel, or why there is none."""
    if math.prod(recipe.orders) > MOST_ELEMENTS:
        return None, f"{math.prod(recipe.orders)} elements, {MOST_ELEMENTS} are allowed"
    routine = recipe.routine()
    if routine.additions > recipe.most_additions:
        return None, f"{routine.additions} additions, {recipe.most_additions} are allowed"
    try:
        function = build.library(recipe.source(SCALARS[dtype])).mix
    except build.UnavailableError as error:
        log.info("nothing compiled for %s: %s", recipe.orders, error)
        return None, str(error)
    function.argtypes = [*[_Matrix] * 3, *[ctypes.c_long] * 2, ctypes.c_int]
    function.restype = None
    return Kernel(function, routine.rows), ""
