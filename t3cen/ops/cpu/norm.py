"""Norm, residual sum and ReLU on the CPU, compiled (`norm.c`): two passes over the maps each way in place of one an operation."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import torch
from torch import Tensor

from t3cen.ops import kernels, norm
from t3cen.ops.cpu import build, columns
from t3cen.ops.norm import Opt
from t3cen.ops.operator import kernel_for

BLOCK = 2**11
"""Values of a channel that are summed in single precision, or one plane: more lose digits, fewer take longer to put together."""


def _forward(maps: Tensor, weight: Opt, bias: Opt, shortcut: Opt, eps: float, relu: bool) -> tuple[Tensor, Tensor, Tensor]:
    """`ops.norm.batch_norm_act`."""
    code = _code_for(maps, weight, bias, shortcut)
    if code is None:
        return norm.batch_norm_act.kernel(maps, weight, bias, shortcut, eps, relu)
    out, (mean, variance) = torch.empty_like(maps), (maps.new_empty(maps.shape[-3], dtype=torch.float64) for _ in range(2))
    taken = {"weight": weight, "bias": bias, "shortcut": shortcut}
    _run(code.forward, maps, eps, _ending(shortcut, relu), **taken, out=out, mean=mean, variance=variance)
    return out, mean, variance


def _backward(
    gradient: Tensor, maps: Tensor, weight: Opt, bias: Opt, mean: Tensor, variance: Tensor, result: Opt, eps: float, relu: bool
) -> norm.Gradients:
    """`ops.norm.batch_norm_act_backward`."""
    code = _code_for(maps, weight, bias, result)
    if code is None or gradient.dtype != maps.dtype:
        return norm.batch_norm_act_backward.kernel(gradient, maps, weight, bias, mean, variance, result, eps, relu)
    out, to_shortcut = torch.empty_like(maps), maps.new_empty(0) if result is None else torch.empty_like(maps)
    to_weight, to_bias = (maps.new_empty(maps.shape[-3]) for _ in range(2))
    taken = {"weight": weight, "bias": bias, "mean": mean, "variance": variance, "result": result}
    made = {"out": out, "to_weight": to_weight, "to_bias": to_bias, "to_shortcut": to_shortcut}
    _run(code.backward, maps, eps, _ending(result, relu), **taken, **made, gradient=gradient.contiguous())
    return out, to_weight, to_bias, to_shortcut


def _ending(summed: Opt, relu: bool) -> int:
    """`enum ending` of `norm.c`: nothing, ReLU, or sum and ReLU."""
    return 2 if summed is not None else int(relu)


class _Job(ctypes.Structure):
    """`struct job` of `norm.c`."""

    _tensors = ("maps", "shortcut", "gradient", "result", "weight", "bias", "out", "to_shortcut", "to_weight", "to_bias")
    _fields_ = [
        *((name, ctypes.c_void_p) for name in (*_tensors, "mean", "variance")),
        *((name, ctypes.c_long) for name in ("rows", "channels", "size", "block", "ending")),
        ("eps", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("totals", "sums", "affines", "corrections")),
    ]


def _run(function: Any, maps: Tensor, eps: float, ending: int, **others: Opt) -> None:
    channels, size = maps.shape[-3], maps.shape[-2:].numel()
    rows = maps.numel() // (channels * size)
    pointers = {name: tensor.data_ptr() for name, tensor in others.items() if tensor is not None}
    shape = {"rows": rows, "channels": channels, "size": size, "block": max(1, BLOCK // size)}
    job = _Job(maps=maps.data_ptr(), ending=ending, eps=eps, **shape, **pointers)
    if function(ctypes.byref(job), columns.threads_for(maps)):
        raise MemoryError(f"no memory for the sums over {channels} channels of maps {tuple(maps.shape)}")


def _code_for(maps: Tensor, *others: Opt) -> ctypes.CDLL | None:
    """`norm.c` where it takes these: single precision, contiguous, planes no smaller than a vector."""
    tensors, shapes = (maps, *(t for t in others if t is not None)), (maps.shape, maps.shape[-3:-2])
    if not maps.numel() or not all(t.dtype == torch.float32 and t.is_contiguous() and t.shape in shapes for t in tensors):
        return None
    code, lanes = _code(kernels.mode())
    return code if maps.shape[-2:].numel() >= lanes else None


@functools.cache
def _code(mode: str) -> tuple[ctypes.CDLL | None, int]:
    """The library, and how many values its vectors have."""
    library = build.load(build.package_file("norm.c"))
    if library is None:
        return None, 0
    for function in (library.forward, library.backward):
        function.argtypes, function.restype = [ctypes.POINTER(_Job), ctypes.c_int], ctypes.c_int
    return library, ctypes.c_int.in_dll(library, "lanes").value


kernel_for("CPU", "batch_norm_act", _forward)
kernel_for("CPU", "batch_norm_act_backward", _backward)
