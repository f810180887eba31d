"""Norm, residual sum and ReLU on the CPU, compiled (`norm.c`): two passes over the maps each way in place of one an operation."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from t3cen.ops import kernels, norm
from t3cen.ops.cpu import build, columns
from t3cen.ops.operator import kernel_for

BLOCK = 2**11
"""Values of a channel that are summed in single precision, or one plane: more lose digits, fewer take longer to put together."""
_PLAIN, _RELU, _SUMMED = range(3)


def _forward(
    maps: Tensor, weight: Tensor | None, bias: Tensor | None, shortcut: Tensor | None, eps: float, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """`ops.norm.batch_norm_act`."""
    code = _code_for(maps, weight, bias, shortcut)
    if code is None:
        return norm.batch_norm_act.kernel(maps, weight, bias, shortcut, eps, relu)
    out, (mean, variance) = torch.empty_like(maps), (maps.new_empty(maps.shape[-3], dtype=torch.float64) for _ in range(2))
    ending = _SUMMED if shortcut is not None else _RELU if relu else _PLAIN
    places = {"maps": maps, "weight": weight, "bias": bias, "shortcut": shortcut, "out": out, "mean": mean, "variance": variance}
    _run(code.forward, maps, eps, ending, places)
    return out, mean, variance


def _backward(
    gradient: Tensor,
    maps: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    result: Tensor | None,
    eps: float,
    relu: bool,
) -> norm.Gradients:
    """`ops.norm.batch_norm_act_backward`."""
    code = _code_for(maps, weight, bias, result)
    if code is None or gradient.dtype != maps.dtype:
        return norm.batch_norm_act_backward.kernel(gradient, maps, weight, bias, mean, variance, result, eps, relu)
    to_maps, to_shortcut = torch.empty_like(maps), maps.new_empty(0) if result is None else torch.empty_like(maps)
    to_weight, to_bias = (maps.new_empty(maps.shape[-3]) for _ in range(2))
    ending = _SUMMED if result is not None else _RELU if relu else _PLAIN
    places = {"maps": maps, "weight": weight, "bias": bias, "mean": mean, "variance": variance, "result": result}
    places |= {"gradient": gradient.contiguous(), "out": to_maps, "to_shortcut": None if result is None else to_shortcut}
    _run(code.backward, maps, eps, ending, places | {"to_weight": to_weight, "to_bias": to_bias})
    return to_maps, to_weight, to_bias, to_shortcut


class _Job(ctypes.Structure):
    """`struct job` of `norm.c`."""

    _tensors = ("maps", "shortcut", "gradient", "result", "weight", "bias", "out", "to_shortcut", "to_weight", "to_bias")
    _fields_ = [
        *((name, ctypes.c_void_p) for name in (*_tensors, "mean", "variance")),
        *((name, ctypes.c_long) for name in ("rows", "channels", "size", "block", "ending")),
        ("eps", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("totals", "sums", "affines", "corrections")),
    ]


def _run(function: Callable[..., int], maps: Tensor, eps: float, ending: int, places: dict[str, Tensor | None]) -> None:
    channels, size = maps.shape[-3], maps.shape[-2:].numel()
    rows = maps.numel() // (channels * size)
    job = _Job(rows=rows, channels=channels, size=size, block=max(1, BLOCK // size), ending=ending, eps=eps)
    for name, tensor in places.items():
        setattr(job, name, None if tensor is None else tensor.data_ptr())
    threads = min(torch.get_num_threads(), max(1, maps.numel() // columns.LEAST_PER_THREAD))
    if function(ctypes.byref(job), threads):
        raise MemoryError(f"no memory for the sums over {channels} channels of maps {tuple(maps.shape)}")


class _Code(NamedTuple):
    """`norm.c`, and how many values its vectors have."""

    forward: Callable[..., int]
    backward: Callable[..., int]
    lanes: int


def _code_for(maps: Tensor, *others: Tensor | None) -> _Code | None:
    """The compiled code where it takes these: single precision, contiguous, planes no smaller than a vector."""
    tensors, shapes = (maps, *(t for t in others if t is not None)), (maps.shape, maps.shape[-3:-2])
    if not maps.numel() or not all(t.dtype == torch.float32 and t.is_contiguous() and t.shape in shapes for t in tensors):
        return None
    code = _code(kernels.mode())
    return code if code is not None and maps.shape[-2:].numel() >= code.lanes else None


@functools.cache
def _code(mode: str) -> _Code | None:
    library = build.load(build.package_file("norm.c"))
    if library is None:
        return None
    for function in (library.forward, library.backward):
        function.argtypes, function.restype = [ctypes.POINTER(_Job), ctypes.c_int], ctypes.c_int
    return _Code(library.forward, library.backward, ctypes.c_int.in_dll(library, "lanes").value)


kernel_for("CPU", "batch_norm_act", _forward)
kernel_for("CPU", "batch_norm_act_backward", _backward)
