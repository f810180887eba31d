"""Convolution in groups with 3x3 kernels, compiled: what PyTorch's own does slowly on the CPU.

It goes by Winograd's minimal filtering (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016), every second
place by the definition, with channels last (`csrc/conv.c`); few channels by the definition along the rows of maps, where vectors
are long.

Maps are `(B, groups inputs, H, W)`, filters `(groups outputs, inputs, 3, 3)`, both float32, with a border of one zero.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from t3cen.ops import kernels
from t3cen.ops.cpu import build
from t3cen.ops.geometry import ConvGeometry

GEOMETRIES = (ConvGeometry((1, 1), (1, 1)), ConvGeometry((2, 2), (1, 1)))


def takes(maps: Tensor, filters: Tensor, groups: int, geometry: ConvGeometry, lasting: bool) -> bool:
    """Whether this is convolved here: PyTorch's own is slower, and there is a compiler.

    Args:
        maps: of that size.
        lasting: whether filters are packed once for many calls.

    Raises:
        UnavailableError: kernels are `"on"` and the compiler fails.
    """
    known = filters.dtype == torch.float32 and filters.shape[2:] == (3, 3) and geometry in GEOMETRIES and len(maps) > 0
    library = _library(kernels.mode()) if known else None
    return library is not None and (lasting or bool(library.takes(_job(maps, filters, groups, geometry.stride[0]))))


def forward(maps: Tensor, filters: Tensor, groups: int, stride: int, packed: Tensor | None = None) -> Tensor:
    """`F.conv2d(maps, filters, None, stride, 1, 1, groups)`; `packed` is what `pack` makes of the filters.

    Raises:
        MemoryError: there is none to work in.
    """
    maps, filters = maps.contiguous(), filters.contiguous()
    out = maps.new_empty(len(maps), len(filters), *(-(-side // stride) for side in maps.shape[2:]))
    _run(_job(maps, filters, groups, stride, maps=maps, filters=filters, packed=packed, out=out))
    return out


def backward(
    gradient: Tensor, maps: Tensor, filters: Tensor, groups: int, stride: int, needed: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of maps and filters, those that are needed, from that of the result."""
    gradient, maps, filters = gradient.contiguous(), maps.contiguous(), filters.contiguous()
    to_maps = to_filters = None
    if needed[0]:
        to_maps = torch.empty_like(maps)
        job = _job(maps, filters, groups, stride, maps=gradient, filters=filters, out=to_maps)
        job.transposed, job.inputs, job.outputs = True, job.outputs, job.inputs
        _run(job)
    if needed[1]:
        job = _job(maps, filters, groups, stride, maps=maps, gradient=gradient)
        parts = filters.new_empty(_compiled().parts(job), *filters.shape)
        job.out = parts.data_ptr()
        _run(job)
        to_filters = parts[0] if len(parts) == 1 else parts.sum(0)
    return to_maps, to_filters


def pack(filters: Tensor, groups: int) -> Tensor:
    """Filters as `forward` takes them with any maps: `(N,)`, on this machine."""
    filters = filters.contiguous()
    job = _job(filters, filters, groups, 1, filters=filters)
    packed = filters.new_zeros(_compiled().packed_size(job))
    job.out = packed.data_ptr()
    _compiled().pack(job, torch.get_num_threads())
    return packed


class _Job(ctypes.Structure):
    """`struct job` of `conv.h`."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("maps", "filters", "packed", "gradient", "out")),
        *((name, ctypes.c_long) for name in ("groups", "inputs", "outputs", "batch", "height", "width")),
        *((name, ctypes.c_long) for name in ("stride", "transposed")),
        ("lacking", ctypes.c_void_p),
    ]


def _job(size: Tensor, channels: Tensor, groups: int, stride: int, **tensors: Tensor | None) -> _Job:
    """For maps and filters of these shapes."""
    pointers = {name: tensor.data_ptr() for name, tensor in tensors.items() if tensor is not None}
    batch, _, height, width = size.shape
    sides = {"inputs": channels.shape[1], "outputs": len(channels) // groups, "height": height, "width": width}
    return _Job(groups=groups, batch=batch, stride=stride, **sides, **pointers)


def _run(job: _Job) -> None:
    lacking = _compiled().run(job, torch.get_num_threads())
    if lacking:
        wanted = f"a convolution needs {lacking:,} bytes to work in, and there are none"
        raise MemoryError(f"{wanted}: take fewer threads or a smaller batch")


def _compiled() -> Any:
    return _library(kernels.mode())


@functools.cache
def _library(mode: str) -> ctypes.CDLL | None:
    library = build.load(build.package_file("conv.c"), fused=True)
    if library is not None:
        for name in ("run", "pack", "parts", "packed_size", "takes"):
            function = getattr(library, name)
            threads = [ctypes.c_int] * (name in ("run", "pack"))
            function.argtypes, function.restype = [ctypes.POINTER(_Job), *threads], ctypes.c_long
    return library
