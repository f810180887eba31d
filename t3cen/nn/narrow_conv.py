"""3x3 convolution in groups of few channels, compiled (`narrow_conv.c`): what PyTorch's own does slowly on the CPU."""

from __future__ import annotations

import ctypes
import functools
from importlib import resources
from typing import NamedTuple

import torch
from torch import Tensor

from t3cen.nn import kernels, native
from t3cen.nn.plane import Plane

MOST_CHANNELS = 8
"""Of a group; with 16 PyTorch's own is as fast (docs/performance.md)."""
PLANE = Plane((1, 1), (1, 1), (1, 1))


def suits(maps: Tensor, filters: Tensor, groups: int, plane: Plane) -> bool:
    """Whether this is the faster way, as measured.

    Args:
        maps: `(B, groups C, H, W)`.
        filters: `(groups C', C, kh, kw)`.
        groups: number of groups.
        plane: stride, padding and dilation.
    """
    outputs, inputs = len(filters) // groups, filters.shape[1]
    if filters.shape[2:] != (3, 3) or plane != PLANE or max(outputs, inputs) > MOST_CHANNELS or not len(maps):
        return False
    if maps.dtype != torch.float32 or filters.dtype != torch.float32 or not all(map(kernels.in_reach, (maps, filters))):
        return False
    code, reason = _code()
    if code is None:
        if kernels.mode() == "on":
            raise native.UnavailableError(f"a convolution cannot be compiled, and kernels are 'on': {reason}")
        return False
    block, lanes = code.lanes // 2, code.lanes
    height, width = maps.shape[2:]
    in_pairs = width % (2 * lanes) == 0 or (width % lanes == 0 and height % 2 == 0)
    return in_pairs and outputs % block == 0 and inputs % block == 0


def forward(maps: Tensor, filters: Tensor, bias: Tensor | None, groups: int) -> Tensor:
    """`F.conv2d(maps, filters, bias, 1, 1, 1, groups)`."""
    outputs, inputs = len(filters) // groups, filters.shape[1]
    out = maps.new_empty(len(maps), len(filters), *maps.shape[2:])
    _run(maps.contiguous(), filters.contiguous(), None, out, groups, inputs, outputs)
    return out if bias is None else out.add_(bias[:, None, None])


def backward(
    gradient: Tensor, maps: Tensor, filters: Tensor, groups: int, needed: tuple[bool, bool, bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of maps, filters and bias, those that are needed."""
    outputs, inputs = len(filters) // groups, filters.shape[1]
    gradient = gradient.contiguous()
    to_maps = torch.empty_like(maps, memory_format=torch.contiguous_format) if needed[0] else None
    to_filters = torch.empty_like(filters, memory_format=torch.contiguous_format) if needed[1] else None
    if to_maps is not None:
        _run(gradient, filters.contiguous(), None, to_maps, groups, outputs, inputs, transposed=True)
    if to_filters is not None:
        _run(maps.contiguous(), None, gradient, to_filters, groups, inputs, outputs)
    return to_maps, to_filters, gradient.sum((0, 2, 3)) if needed[2] else None


class _Job(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("maps", "filters", "gradient", "out")),
        *((name, ctypes.c_long) for name in ("batch", "groups", "inputs", "outputs", "height", "width", "transposed")),
    ]


class _Code(NamedTuple):
    library: ctypes.CDLL
    lanes: int


def _run(
    maps: Tensor,
    filters: Tensor | None,
    gradient: Tensor | None,
    out: Tensor,
    groups: int,
    inputs: int,
    outputs: int,
    transposed: bool = False,
) -> None:
    code, reason = _code()
    if code is None:
        raise native.UnavailableError(reason)
    places = (None if t is None else t.data_ptr() for t in (maps, filters, gradient, out))
    job = _Job(*places, len(maps), groups, inputs, outputs, *maps.shape[2:], transposed)
    code.library.run(ctypes.byref(job), min(torch.get_num_threads(), groups))


@functools.cache
def _code() -> tuple[_Code | None, str]:
    """The compiled code, or why there is none."""
    source = resources.files("t3cen.nn").joinpath("narrow_conv.c").read_text()
    try:
        library = native.library(source, fused=True)
    except native.UnavailableError as error:
        return None, str(error)
    library.run.argtypes, library.run.restype = [ctypes.POINTER(_Job), ctypes.c_int], None
    return _Code(library, ctypes.c_int.in_dll(library, "lanes").value), ""
