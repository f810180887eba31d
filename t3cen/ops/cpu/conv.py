"""Convolution in groups, compiled: what PyTorch's own does slowly on the CPU.

3x3 kernels over few channels are convolved by the definition along the rows of maps (`narrow_conv.c`); over more by Winograd's
minimal filtering (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016), and every second place or 1x1 by
the definition again, with channels last (`conv.c`).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from t3cen.ops.cpu import build, kernels
from t3cen.ops.geometry import Plane

MOST_NARROW = 8
"""Channels of a group; with 16 the definition is no faster than PyTorch's own (docs/performance.md)."""
MOST_POINTWISE = 32
"""Channels of a group, the fewer of its inputs and results, where vectors have 16 lanes: there PyTorch's own 1x1 convolution of
more is as fast."""
LEAST_TILES = 32
"""Tiles of `conv.c`; with fewer the filters cost more than they save."""
LEAST_ALONE = 2**22
"""Tiles times inputs times outputs of a single group; with fewer an ordinary convolution has no time to lose."""


class Shape(NamedTuple):
    """What is convolved: groups and their channels, maps, and how the kernel goes over them."""

    groups: int
    inputs: int
    outputs: int
    batch: int
    height: int
    width: int
    kernel: int
    step: int

    @property
    def tiles(self) -> int:
        side = 1 if self.kernel == 1 else 2
        return self.batch * -(-self.height // side) * -(-self.width // side)


class _Job(ctypes.Structure):
    """`struct job` of `conv.h`."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("maps", "filters", "gradient", "out")),
        *((name, ctypes.c_long) for name in ("batch", "groups", "inputs", "outputs", "height", "width")),
        *((name, ctypes.c_long) for name in ("kernel", "step", "transposed")),
    ]


class CompiledConv:
    """One compiled way to convolve in groups, with a border that keeps the size of maps at step 1.

    Args:
        file: its C source.
    """

    def __init__(self, file: str) -> None:
        library = build.library(build.package_file(file), fused=True)
        self._run, self._parts = library.run, library.parts
        self._run.argtypes, self._run.restype = [ctypes.POINTER(_Job), ctypes.c_int], None
        self._parts.argtypes, self._parts.restype = [ctypes.POINTER(_Job)], ctypes.c_long
        self.lanes, self.block = (ctypes.c_int.in_dll(library, name).value for name in ("lanes", "block"))

    def forward(self, maps: Tensor, filters: Tensor, bias: Tensor | None, groups: int, step: int = 1) -> Tensor:
        """`F.conv2d(maps, filters, bias, step, kernel // 2, 1, groups)`."""
        maps, filters = maps.contiguous(), filters.contiguous()
        out = maps.new_empty(len(maps), len(filters), *(-(-side // step) for side in maps.shape[2:]))
        self._go(_job(_shape(maps, filters, groups, step), maps=maps, filters=filters), out)
        return out if bias is None else out.add_(bias[:, None, None])

    def backward(
        self,
        gradient: Tensor,
        maps: Tensor,
        filters: Tensor,
        groups: int,
        needed: tuple[bool, bool, bool],
        step: int = 1,
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Gradients of maps, filters and bias, those that are needed."""
        gradient, maps, filters = gradient.contiguous(), maps.contiguous(), filters.contiguous()
        shape = _shape(maps, filters, groups, step)
        to_maps = to_filters = to_bias = None
        if needed[0]:
            to_maps = torch.empty_like(maps)
            job = _job(shape, maps=gradient, filters=filters)
            job.inputs, job.outputs, job.transposed = job.outputs, job.inputs, True
            self._go(job, to_maps)
        if needed[1]:
            job = _job(shape, maps=maps, gradient=gradient)
            parts = filters.new_empty(self._parts(ctypes.byref(job)), *filters.shape)
            self._go(job, parts)
            to_filters = parts[0] if len(parts) == 1 else parts.sum(0)
        if needed[2]:
            to_bias = gradient.sum((0, 2, 3))
        return to_maps, to_filters, to_bias

    def _go(self, job: _Job, out: Tensor) -> None:
        job.out = out.data_ptr()
        self._run(ctypes.byref(job), torch.get_num_threads())


def _job(shape: Shape, **tensors: Tensor) -> _Job:
    return _Job(**shape._asdict(), **{name: tensor.data_ptr() for name, tensor in tensors.items()})


def _shape(maps: Tensor, filters: Tensor, groups: int, step: int) -> Shape:
    height, width = maps.shape[-2:]
    return Shape(groups, filters.shape[1], len(filters) // groups, len(maps), height, width, filters.shape[-1], step)


def _narrow(conv: CompiledConv, shape: Shape) -> bool:
    in_pairs = shape.width % (2 * conv.lanes) == 0 or (shape.width % conv.lanes == 0 and shape.height % 2 == 0)
    whole = shape.inputs % conv.block == 0 and shape.outputs % conv.block == 0
    few = max(shape.inputs, shape.outputs) <= MOST_NARROW
    return in_pairs and whole and few and shape.kernel == 3 and shape.step == 1


def _tiled(conv: CompiledConv, shape: Shape) -> bool:
    # Channels fill vectors, and half of one is nothing.
    narrowest = min(shape.inputs, shape.outputs)
    wide = narrowest > conv.lanes // 2 and (shape.kernel > 1 or conv.lanes < 16 or narrowest <= MOST_POINTWISE)
    alone = shape.groups == 1 and shape.tiles * shape.inputs * shape.outputs < LEAST_ALONE
    return wide and shape.tiles >= LEAST_TILES and not alone


WAYS: dict[str, Callable[[CompiledConv, Shape], bool]] = {"narrow_conv.c": _narrow, "conv.c": _tiled}
"""C files, and where each is the fastest way, as measured (docs/performance.md)."""
PLANES = {
    (3, 3): (Plane((1, 1), (1, 1), (1, 1)), Plane((2, 2), (1, 1), (1, 1))),
    (1, 1): (Plane((1, 1), (0, 0), (1, 1)),),
}
"""Kernels, and how they may go over the plane."""


def find(maps: Tensor, filters: Tensor, groups: int, plane: Plane) -> CompiledConv | None:
    """The fastest way, or None if that is PyTorch's.

    Args:
        maps: `(B, ..., H, W)`, and other tensors of the same type.
        filters: `(groups C', C, kh, kw)`.
        groups: number of groups.
        plane: stride, padding and dilation.
    """
    if plane not in PLANES.get((filters.shape[2], filters.shape[3]), ()) or not len(maps):
        return None
    if maps.dtype != torch.float32 or filters.dtype != torch.float32 or not all(map(kernels.in_reach, (maps, filters))):
        return None
    shape = _shape(maps, filters, groups, plane.stride[0])
    for file, suits in WAYS.items():
        conv, reason = _made(file)
        if conv is None:
            kernels.do_without("no convolution", reason)
        elif suits(conv, shape):
            return conv
    return None


@functools.cache
def _made(file: str) -> tuple[CompiledConv | None, str]:
    """The compiled code, or why there is none."""
    try:
        return CompiledConv(file), ""
    except build.UnavailableError as error:
        return None, str(error)
