"""3x3 convolution in groups, compiled: what PyTorch's own does slowly on the CPU.

Few channels are convolved by the definition (`narrow_conv.c`), more by Winograd's minimal filtering (`winograd.c`; Lavin and
Gray, "Fast algorithms for convolutional neural networks", 2016).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.nn import kernels, native
from t3cen.nn.plane import Plane

PLANE = Plane((1, 1), (1, 1), (1, 1))
MOST_NARROW = 8
"""Channels of a group; with 16 PyTorch's own is as fast as the definition compiled (docs/performance.md)."""
LEAST_TILES = 32
"""Tiles of 2x2 places; with fewer the filters cost more than they save."""


class _Job(ctypes.Structure):
    """`struct job` of `conv3x3.h`."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("maps", "filters", "gradient", "out")),
        *((name, ctypes.c_long) for name in ("batch", "groups", "inputs", "outputs", "height", "width", "transposed")),
    ]


class Conv3x3:
    """One compiled way to convolve.

    Args:
        file: its C source.
    """

    def __init__(self, file: str) -> None:
        library = native.library(native.package_file(file), fused=True)
        self._run, self._parts = library.run, library.parts
        self._run.argtypes, self._run.restype = [ctypes.POINTER(_Job), ctypes.c_int], None
        self._parts.argtypes, self._parts.restype = [ctypes.POINTER(_Job)], ctypes.c_long
        self.lanes, self.block = (ctypes.c_int.in_dll(library, name).value for name in ("lanes", "block"))

    def forward(self, maps: Tensor, filters: Tensor, bias: Tensor | None, groups: int) -> Tensor:
        """`F.conv2d(maps, filters, bias, 1, 1, 1, groups)`."""
        maps, filters = maps.contiguous(), filters.contiguous()
        out = maps.new_empty(len(maps), len(filters), *maps.shape[2:])
        self._go(_job(maps, groups, filters.shape[1], len(filters) // groups, filters=filters), out)
        return out if bias is None else out.add_(bias[:, None, None])

    def backward(
        self, gradient: Tensor, maps: Tensor, filters: Tensor, groups: int, needed: tuple[bool, bool, bool]
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Gradients of maps, filters and bias, those that are needed."""
        inputs, outputs = filters.shape[1], len(filters) // groups
        gradient, maps, filters = gradient.contiguous(), maps.contiguous(), filters.contiguous()
        to_maps = to_filters = to_bias = None
        if needed[0]:
            to_maps = torch.empty_like(maps)
            self._go(_job(gradient, groups, outputs, inputs, filters=filters, transposed=True), to_maps)
        if needed[1]:
            job = _job(maps, groups, inputs, outputs, gradient=gradient)
            parts = filters.new_empty(self._parts(ctypes.byref(job)), *filters.shape)
            self._go(job, parts)
            to_filters = parts[0] if len(parts) == 1 else parts.sum(0)
        if needed[2]:
            to_bias = gradient.sum((0, 2, 3))
        return to_maps, to_filters, to_bias

    def _go(self, job: _Job, out: Tensor) -> None:
        job.out = out.data_ptr()
        self._run(ctypes.byref(job), torch.get_num_threads())


def _job(
    maps: Tensor,
    groups: int,
    inputs: int,
    outputs: int,
    filters: Tensor | None = None,
    gradient: Tensor | None = None,
    transposed: bool = False,
) -> _Job:
    places = (None if t is None else t.data_ptr() for t in (maps, filters, gradient, None))
    return _Job(*places, len(maps), groups, inputs, outputs, *maps.shape[2:], transposed)


@dataclass(frozen=True)
class Shape:
    """What is convolved: channels of a group, and the maps."""

    inputs: int
    outputs: int
    batch: int
    height: int
    width: int


def _narrow(conv: Conv3x3, shape: Shape) -> bool:
    in_pairs = shape.width % (2 * conv.lanes) == 0 or (shape.width % conv.lanes == 0 and shape.height % 2 == 0)
    whole = shape.inputs % conv.block == 0 and shape.outputs % conv.block == 0
    return in_pairs and whole and max(shape.inputs, shape.outputs) <= MOST_NARROW


def _winograd(conv: Conv3x3, shape: Shape) -> bool:
    tiles = shape.batch * -(-shape.height // 2) * -(-shape.width // 2)
    return min(shape.inputs, shape.outputs) > MOST_NARROW and tiles >= LEAST_TILES


WAYS: dict[str, Callable[[Conv3x3, Shape], bool]] = {"narrow_conv.c": _narrow, "winograd.c": _winograd}
"""C files, and where each is the fastest way, as measured (docs/performance.md)."""


def find(maps: Tensor, filters: Tensor, groups: int, plane: Plane) -> Conv3x3 | None:
    """The fastest way, or None if that is PyTorch's.

    Args:
        maps: `(B, ..., H, W)`, and other tensors of the same type.
        filters: `(groups C', C, kh, kw)`.
        groups: number of groups.
        plane: stride, padding and dilation.
    """
    if filters.shape[2:] != (3, 3) or plane != PLANE or not len(maps):
        return None
    if maps.dtype != torch.float32 or filters.dtype != torch.float32 or not all(map(kernels.in_reach, (maps, filters))):
        return None
    shape = Shape(filters.shape[1], len(filters) // groups, len(maps), *maps.shape[-2:])
    for file, suits in WAYS.items():
        conv, reason = _made(file)
        if conv is None and kernels.mode() == "on":
            raise native.UnavailableError(f"a convolution cannot be compiled, and kernels are 'on': {reason}")
        if conv is not None and suits(conv, shape):
            return conv
    return None


@functools.cache
def _made(file: str) -> tuple[Conv3x3 | None, str]:
    """The compiled code, or why there is none."""
    try:
        return Conv3x3(file), ""
    except native.UnavailableError as error:
        return None, str(error)
