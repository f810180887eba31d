"""Which transforms run as compiled additions: those of real CPU tensors, where there is a C compiler.

Everything else is a matrix product, with the same result to rounding. `use("off")`, or `T3CEN_KERNELS=off` in the environment,
makes everything a matrix product; with `"on"` a compiler that is missing is an error, and with `"auto"`, the default, it is not.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import math
import os
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad

from t3cen.nn import native, straight_line
from t3cen.nn.factors import Name, stages

MODES = ("auto", "on", "off")
VARIABLE = "T3CEN_KERNELS"
SCALARS = {torch.float32: "float", torch.float64: "double"}
MOST_ELEMENTS, MOST_ADDITIONS = 128, 1200
"""Longer programs take seconds to compile; for larger groups they take as long to write."""
LEAST_SIZE = 2048
"""Elements of one function, below which a matrix product costs as little; an axis for the batch does not count."""
LEAST_PER_THREAD = 2**15

log = logging.getLogger(__name__)
_chosen: list[str] = []


class Which(NamedTuple):
    """A matrix of `bilinear.cyclic_convolution(orders)`, or its transpose."""

    orders: tuple[int, ...]
    name: Name
    transposed: bool = False


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
    return f"matrix products: {reason}" if reason else f"compiled: {native.compiler_version()}"


def find(which: Which, functions: Tensor) -> Kernel | None:
    """The kernel for these functions, `(B, G, N)`; None if they are better, or only, done as a matrix product."""
    if not _suits(functions):
        return None
    kernel, reason = _made(which, functions.dtype)
    if kernel is None and mode() == "on":
        raise native.UnavailableError(f"the transforms of {which.orders} cannot be compiled, and kernels are 'on': {reason}")
    return kernel


class Kernel:
    """A compiled matrix, `(R, G)`."""

    def __init__(self, function: Callable[..., None], rows: int) -> None:
        self._function, self._rows = function, rows

    def __call__(self, functions: Tensor, out: Tensor | None) -> Tensor:
        """`(B, G, N)` to `(B, R, N)`, written to `out` if there is one: of the same type, with contiguous columns.

        Nothing is recorded for gradients.
        """
        functions = functions if functions.stride(2) == 1 else functions.contiguous()
        batch, _, count = functions.shape
        out = functions.new_empty(batch, self._rows, count) if out is None else out
        threads = min(torch.get_num_threads(), max(1, functions.numel() // LEAST_PER_THREAD))
        strides = *functions.stride()[:2], *out.stride()[:2]
        self._function(functions.data_ptr(), out.data_ptr(), batch, count, *strides, threads)
        return out


def _suits(tensor: Tensor) -> bool:
    """Whether there is memory to read, enough to be worth it, and nobody records or rewrites the operations on it."""
    if tensor.device.type != "cpu" or tensor.dtype not in SCALARS or torch.compiler.is_compiling() or torch.jit.is_tracing():
        return False
    plain = type(tensor) is Tensor and tensor.layout == torch.strided and not tensor.is_neg()
    dual = forward_ad._current_level >= 0 or torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return plain and not dual and not watched() and tensor[:1].numel() >= LEAST_SIZE and mode() != "off"


@functools.cache
def _made(which: Which, dtype: torch.dtype) -> tuple[Kernel | None, str]:
    """The kernel, or why there is none."""
    if math.prod(which.orders) > MOST_ELEMENTS:
        return None, f"{math.prod(which.orders)} elements, {MOST_ELEMENTS} are allowed"
    program = straight_line.program(stages(*which))
    if program.additions > MOST_ADDITIONS:
        return None, f"{program.additions} additions, {MOST_ADDITIONS} are allowed"
    try:
        function = native.library(straight_line.source(program, SCALARS[dtype])).mix
    except native.UnavailableError as error:
        log.info("transforms of %s are matrix products: %s", which.orders, error)
        return None, str(error)
    function.argtypes = [*[ctypes.c_void_p] * 2, *[ctypes.c_long] * 6, ctypes.c_int]
    function.restype = None
    return Kernel(function, len(program.outputs)), ""
