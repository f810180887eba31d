"""Convolution in groups with 3x3 kernels, compiled: what PyTorch's own does slowly on the CPU.

It goes by Winograd's minimal filtering (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016), every second
place by the definition, with channels last (`csrc/conv.c`); few channels by the definition along the rows of maps, where vectors
are long.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from t3cen.ops import kernels
from t3cen.ops.cpu import build


class Shape(NamedTuple):
    """What is convolved: groups and the channels of each, maps, with a border of one zero, and a stride of 1 or 2."""

    groups: int
    inputs: int
    outputs: int
    batch: int
    height: int
    width: int
    stride: int


class _Job(ctypes.Structure):
    """`struct job` of `conv.h`."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("maps", "filters", "packed", "gradient", "out")),
        *((name, ctypes.c_long) for name in ("groups", "inputs", "outputs", "batch", "height", "width")),
        *((name, ctypes.c_long) for name in ("stride", "transposed")),
        ("lacking", ctypes.c_void_p),
    ]


def choose(shape: Shape, packed: bool = False) -> CompiledConv | None:
    """What convolves float32 maps of this shape; None where PyTorch's own is faster, or nothing can be compiled.

    Args:
        shape: of the convolution.
        packed: whether filters are packed once for many calls.

    Raises:
        UnavailableError: kernels are `"on"` and the compiler fails.
    """
    return _chosen(shape, packed, kernels.mode())


@functools.cache
def _chosen(shape: Shape, packed: bool, mode: str) -> CompiledConv | None:
    library = build.load(build.package_file("conv.c"), fused=True)
    if library is None or not shape.batch:
        return None
    conv = CompiledConv(library)
    # Channels fill vectors, and half of one is nothing, unless Winograd's filtering saves more.
    taken = min(shape.inputs, shape.outputs) > conv.lanes // 2
    taken |= shape.stride == 1 and (conv.lanes < 16 or conv.takes_few(shape))
    return conv if taken or packed else None


class CompiledConv:
    """Convolutions in groups with 3x3 kernels and a border of one zero.

    Args:
        library: `conv.c`, compiled.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        threads = [ctypes.c_int]
        for name, more in {"run": threads, "pack": threads, "parts": [], "packed_size": [], "few": []}.items():
            function = getattr(library, name)
            function.argtypes, function.restype = [ctypes.POINTER(_Job), *more], ctypes.c_long
        self._library = library
        self.lanes = ctypes.c_int.in_dll(library, "lanes").value

    def takes_few(self, shape: Shape) -> bool:
        """Whether these are few enough channels to convolve along the rows of maps."""
        return bool(self._library.few(_job(shape)))

    def forward(self, maps: Tensor, filters: Tensor, shape: Shape) -> Tensor:
        """`F.conv2d(maps, filters, None, stride, 1, 1, groups)`.

        Args:
            maps: `(B, groups inputs, H, W)`.
            filters: `(groups outputs, inputs, 3, 3)`, or what `pack` makes of them.
            shape: of the convolution.

        Raises:
            MemoryError: there is none to work in.
        """
        maps, filters = maps.contiguous(), filters.contiguous()
        sizes = (-(-side // shape.stride) for side in (shape.height, shape.width))
        out = maps.new_empty(shape.batch, shape.groups * shape.outputs, *sizes)
        job = _job(shape, maps=maps, out=out)
        if filters.dim() == 1:
            job.packed = filters.data_ptr()
        else:
            job.filters = filters.data_ptr()
        self._go(job)
        return out

    def backward(
        self, gradient: Tensor, maps: Tensor, filters: Tensor, shape: Shape, needed: Sequence[bool]
    ) -> tuple[Tensor | None, Tensor | None]:
        """Gradients of maps and filters, those that are needed, from that of the result; filters are not packed."""
        gradient, maps, filters = gradient.contiguous(), maps.contiguous(), filters.contiguous()
        to_maps = to_filters = None
        if needed[0]:
            to_maps = torch.empty_like(maps)
            turned = shape._replace(inputs=shape.outputs, outputs=shape.inputs)
            self._go(_job(turned, transposed=True, maps=gradient, filters=filters, out=to_maps))
        if needed[1]:
            parts = filters.new_empty(self._library.parts(_job(shape)), *filters.shape)
            self._go(_job(shape, maps=maps, gradient=gradient, out=parts))
            to_filters = parts[0] if len(parts) == 1 else parts.sum(0)
        return to_maps, to_filters

    def pack(self, filters: Tensor, groups: int) -> Tensor:
        """Filters, `(groups outputs, inputs, 3, 3)`, as `forward` takes them with any maps: `(N,)`, on this machine."""
        filters = filters.contiguous()
        shape = Shape(groups, filters.shape[1], len(filters) // groups, 0, 0, 0, 1)
        packed = filters.new_zeros(self._library.packed_size(_job(shape)))
        self._library.pack(_job(shape, filters=filters, out=packed), torch.get_num_threads())
        return packed

    def _go(self, job: _Job) -> None:
        lacking = self._library.run(job, torch.get_num_threads())
        if lacking:
            wanted = f"a convolution needs {lacking:,} bytes to work in, and there are none"
            raise MemoryError(f"{wanted}: take fewer threads or a smaller batch")


def _job(shape: Shape, /, *, transposed: bool = False, **tensors: Tensor) -> _Job:
    pointers = {name: tensor.data_ptr() for name, tensor in tensors.items()}
    return _Job(**shape._asdict(), **pointers, transposed=transposed)
