"""The Fourier-domain convolution on the CPU: its products as one convolution in groups, a few images at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.weak import WeakTensorKeyDictionary

from t3cen.algebra.sparse_factors import Name
from t3cen.ops.cpu import conv, pointwise
from t3cen.ops.cpu.transform import apply
from t3cen.ops.geometry import ConvGeometry
from t3cen.ops.operator import kernel_for
from t3cen.ops.transform import rank

CHUNK_BYTES = 8 * 2**20
LANES, FEWEST = 8, 3
"""Of PyTorch's convolution: channels of a group, from `FEWEST` on, are filled up to a multiple of `LANES`, five times as fast."""
_PACKED = WeakTensorKeyDictionary()


def forward(input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], numbers: list[int]) -> Tensor:
    """`ops.fourier.fourier_conv2d`."""
    rows, geometry = rank(orders), ConvGeometry.of(numbers)
    groups, outputs = rows * (input.shape[2] // filters.shape[1]), len(filters) // rows
    out = filters.new_empty(*input.shape[:2], outputs, *geometry.output_size(input.shape[3:], filters.shape[2:]))
    lasting = not filters.requires_grad
    compiled = conv.takes(input[:, 0], filters, groups, geometry, lasting)
    packed = _packed(filters, groups) if compiled and lasting else None
    wide = filters if compiled or pointwise.takes(filters, geometry) else _widened(filters, rows, groups > rows)
    for part in _chunks(input, wide, groups):
        transformed = _transformed(input[part], orders, "signal", False, groups * wide.shape[1], wide.dtype)
        if compiled:
            products = conv.forward(transformed, filters, groups, geometry.stride[0], packed)
        elif pointwise.takes(filters, geometry):
            products = pointwise.forward(transformed, filters, groups)
        else:
            products = F.conv2d(transformed, wide, None, *geometry, groups)
        if bias is not None:
            # A constant function on the group lives at frequency zero, which comes first.
            products[:, :outputs] += (bias * input.shape[1])[:, None, None]
        apply(_narrowed(products, rows, outputs), orders, "output", False, out[part].flatten(2))
    return out


def backward(
    gradient: Tensor, input: Tensor, filters: Tensor, orders: list[int], numbers: list[int], needed: list[bool]
) -> tuple[Tensor, Tensor]:
    """`ops.fourier.fourier_conv2d_backward`."""
    rows, geometry = rank(orders), ConvGeometry.of(numbers)
    outputs, inputs = gradient.shape[2], input.shape[2]
    groups = rows * (inputs // filters.shape[1])
    compiled = conv.takes(input[:, 0], filters, groups, geometry, False)
    wide = filters if compiled or pointwise.takes(filters, geometry) else _widened(filters, rows, groups > rows)
    to_input = torch.empty_like(input, memory_format=torch.contiguous_format) if needed[0] else input.new_empty(0)
    to_filters: Tensor | None = None
    for part in _chunks(input, wide, groups):
        at_products = _transformed(gradient[part], orders, "output", True, len(wide), wide.dtype)
        transformed = _transformed(input[part], orders, "signal", False, groups * wide.shape[1], wide.dtype)
        if compiled:
            to_maps, more = conv.backward(at_products, transformed, filters, groups, geometry.stride[0], needed)
        elif pointwise.takes(filters, geometry):
            to_maps, more = pointwise.backward(at_products, transformed, filters, groups, needed)
        else:
            to_maps, more, _ = torch.ops.aten.convolution_backward(
                at_products, transformed, wide, None, *geometry, False, [0, 0], groups, [*needed, False]
            )
        if to_maps is not None:
            apply(_narrowed(to_maps, rows, inputs), orders, "signal", True, to_input[part].flatten(2))
        to_filters = more if to_filters is None or more is None else to_filters.add_(more)
    if to_filters is None:
        return to_input, filters.new_empty(0)
    return to_input, to_filters.unflatten(0, (rows, -1))[:, :outputs, : filters.shape[1]].reshape(filters.shape)


def _packed(filters: Tensor, groups: int) -> Tensor:
    """Filters without a gradient in the form that `conv` multiplies with, kept for as long as they are and stay what they are."""
    state = None if filters.is_inference() else (filters._version, filters.data_ptr())
    kept = _PACKED.get(filters)
    if kept is not None and state is not None and kept[0] == state:
        return kept[1]
    made = conv.pack(filters, groups)
    if state is not None:
        _PACKED[filters] = state, made
    return made


def _widened(filters: Tensor, rows: int, apart: bool) -> Tensor:
    """`(R C', C, kh, kw)` with channels of zeros added, as many as make PyTorch's convolution fast.

    Channels in groups of their own, `apart`, stay as they are: zeros would come between those that are transformed together.
    """
    if apart or filters.dtype != torch.float32:
        return filters.contiguous()
    missing = [-channels % LANES if channels >= FEWEST else 0 for channels in (len(filters) // rows, filters.shape[1])]
    return F.pad(filters.unflatten(0, (rows, -1)), (0, 0, 0, 0, 0, missing[1], 0, missing[0])).flatten(0, 1)


def _transformed(f: Tensor, orders: list[int], name: Name, transposed: bool, total: int, dtype: torch.dtype) -> Tensor:
    """`(B, G, C, H, W)` to `(B, total, H, W)`, an R-th of the channels for each product: zeros after the first C."""
    batch, _, channels, *plane = f.shape
    rows = rank(orders)
    out = f.new_empty(batch, rows, total // rows, *plane, dtype=dtype)
    if channels < out.shape[2]:
        out[:, :, channels:] = 0
    f = f.to(torch.promote_types(f.dtype, dtype))
    apply(f.flatten(2), orders, name, transposed, out[:, :, :channels].flatten(2))
    return out.flatten(1, 2)


def _narrowed(products: Tensor, rows: int, channels: int) -> Tensor:
    """`(B, R wide, H, W)` to `(B, R, channels H W)`: the first channels of each product."""
    return products.unflatten(1, (rows, -1))[:, :, :channels].flatten(2)


def _chunks(input: Tensor, filters: Tensor, groups: int) -> Iterator[slice]:
    """Batch slices whose transform stays in the cache and in the allocator's small blocks.

    Fresh pages cost several times the arithmetic on them. Filters are read once a slice, so a slice is no smaller than they.
    """
    batch = input.shape[0]
    one = groups * filters.shape[1] * input[:1, 0, 0].numel() * filters.element_size()
    most = max(CHUNK_BYTES, filters.numel() * filters.element_size())
    step = -(-batch // max(1, -(-one * batch // most)))
    # An empty batch is one empty slice, so that its gradients have shapes.
    return (slice(start, start + step) for start in range(0, max(batch, 1), max(step, 1)))


kernel_for("CPU", "fourier_conv2d", forward)
kernel_for("CPU", "fourier_conv2d_backward", backward)
