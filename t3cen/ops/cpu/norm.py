"""Norm, residual sum and ReLU on the CPU, compiled (`norm.c`): two passes over the maps each way in place of one an operation."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from t3cen.ops import kernels, norm
from t3cen.ops.cpu import build, columns
from t3cen.ops.operator import kernel_for

BLOCK = 2**11
"""Values of a channel that are summed in single precision, or one plane: more lose digits, fewer take longer to put together."""
Numbers = NDArray[np.float64]


def _forward(
    maps: Tensor, weight: Tensor | None, bias: Tensor | None, shortcut: Tensor | None, eps: float, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """`ops.norm.batch_norm_act`."""
    code = _code_for(maps, weight, bias, shortcut)
    if code is None:
        return norm.batch_norm_act.kernel(maps, weight, bias, shortcut, eps, relu)
    passes, out = _Passes(code, maps, shortcut, relu, shortcut=shortcut), torch.empty_like(maps)
    first, second, centre = passes.sums()
    mean = (first + centre * passes.values).sum(0) / passes.values.sum()
    off = mean - centre
    variance = (second - 2 * off * first + off**2 * passes.values).sum(0).clip(0) / passes.values.sum()
    passes.write(affines=_affines(mean, variance, weight, bias, eps), out=out)
    return out, torch.from_numpy(mean), torch.from_numpy(variance)


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
    passes = _Passes(code, maps, result, relu, gradient=gradient.contiguous(), result=result, to_shortcut=to_shortcut)
    affines = _affines(mean.numpy(), variance.numpy(), weight, bias, eps)
    first, second, _ = (part.sum(0) for part in passes.sums(affines=affines))
    near, inverse, count = mean.numpy() - affines[:, 0], 1 / (variance.numpy() + eps), passes.values.sum()
    product = second - near * first
    slope = -affines[:, 1] * inverse * product / count
    corrections = np.stack([slope, -affines[:, 1] * first / count - slope * near], 1)
    passes.write(corrections=corrections.astype(np.float32), out=to_maps)
    return to_maps, maps.new_tensor(product * np.sqrt(inverse)), maps.new_tensor(first), to_shortcut


def _affines(mean: Numbers, variance: Numbers, weight: Tensor | None, bias: Tensor | None, eps: float) -> NDArray[np.float32]:
    """`(C, 3)`, `struct affine` of each channel."""
    scale = (1 if weight is None else weight.detach().numpy()) / np.sqrt(variance + eps)
    centre = mean.astype(np.float32)
    shift = (0 if bias is None else bias.detach().numpy()) - (mean - centre) * scale
    return np.stack([centre, scale, shift], 1).astype(np.float32)


class _Job(ctypes.Structure):
    """`struct job` of `norm.c`."""

    _arrays = ("maps", "shortcut", "gradient", "result", "out", "to_shortcut", "affines", "corrections", "sums", "totals")
    _fields_ = [
        *((name, ctypes.c_void_p) for name in _arrays),
        *((name, ctypes.c_long) for name in ("rows", "channels", "size", "block", "ending")),
    ]


class _Passes:
    """Both over the maps, and the arrays they share."""

    def __init__(self, code: ctypes.CDLL, maps: Tensor, added: Tensor | None, relu: bool, **arrays: Tensor | None) -> None:
        channels, size = maps.shape[-3], maps.shape[-2:].numel()
        rows, block = maps.numel() // (channels * size), max(1, BLOCK // size)
        starts = np.arange(0, rows, block)
        self.values = size * np.minimum(rows - starts, block)[:, None]
        """Of a channel in each block, `(blocks, 1)`."""
        self._code, self._job = code, _Job(rows=rows, channels=channels, size=size, block=block)
        self._job.ending = 2 if added is not None else int(relu)
        self._threads = min(torch.get_num_threads(), max(1, maps.numel() // columns.LEAST_PER_THREAD))
        self._sums = np.empty((len(starts), channels, 3))
        totals = torch.empty(self._threads, channels, 2, _lanes(code))
        self._set(maps=maps, sums=self._sums, totals=totals, **arrays)

    def sums(self, **arrays: Tensor | NDArray[np.float32]) -> tuple[Numbers, ...]:
        """`struct sums` of each block and channel, `(blocks, C)` each."""
        self._set(**arrays)
        self._code.sum_pass(ctypes.byref(self._job), self._threads)
        return tuple(np.moveaxis(self._sums, 2, 0))

    def write(self, **arrays: Tensor | NDArray[np.float32]) -> None:
        self._set(**arrays)
        self._code.write_pass(ctypes.byref(self._job), self._threads)

    def _set(self, **arrays: Tensor | NDArray | None) -> None:
        for name, array in arrays.items():
            setattr(self, f"_{name}", array)  # C does not keep it alive
            setattr(
                self._job, name, array.data_ptr() if isinstance(array, Tensor) else None if array is None else array.ctypes.data
            )


def _lanes(code: ctypes.CDLL) -> int:
    """How many values its vectors have."""
    return ctypes.c_int.in_dll(code, "lanes").value


def _code_for(maps: Tensor, *others: Tensor | None) -> ctypes.CDLL | None:
    """The compiled code where it takes these: single precision, contiguous, planes no smaller than a vector."""
    tensors, shapes = (maps, *(t for t in others if t is not None)), (maps.shape, maps.shape[-3:-2])
    if not maps.numel() or not all(t.dtype == torch.float32 and t.is_contiguous() and t.shape in shapes for t in tensors):
        return None
    code = _code(kernels.mode())
    return code if code is not None and maps.shape[-2:].numel() >= _lanes(code) else None


@functools.cache
def _code(mode: str) -> ctypes.CDLL | None:
    library = build.load(build.package_file("norm.c"))
    if library is not None:
        for function in (library.sum_pass, library.write_pass):
            function.argtypes, function.restype = [ctypes.POINTER(_Job), ctypes.c_int], None
    return library


kernel_for("CPU", "batch_norm_act", _forward)
kernel_for("CPU", "batch_norm_act_backward", _backward)
