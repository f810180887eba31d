"""The products of a Fourier-domain group convolution as one grouped convolution, a few images at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops.cpu import conv, kernels
from t3cen.ops.geometry import Plane
from t3cen.ops.transform import Transform

CHUNK_BYTES = 8 * 2**20
LANES, FEWEST = 8, 3
"""On the CPU, channels of a product are filled up with zeros to a multiple of `LANES`, from `FEWEST` on: a convolution in groups
takes up to five times as long otherwise (docs/performance.md)."""


def forward(input: Tensor, filters: Tensor, bias: Tensor | None, signal: Transform, output: Transform, plane: Plane) -> Tensor:
    """`(B, G, C, H, W)` and `(R C', C, kh, kw)` to `(B, G, C', H', W')`."""
    rank = signal.rows
    outputs = filters.shape[0] // rank
    out = filters.new_empty(*input.shape[:2], outputs, *plane.output_size(input.shape[3:], filters.shape[2:]))
    wide = _widened(input, filters, rank, plane)
    if bias is not None:
        bias = F.pad(bias.view(rank, -1), (0, wide.shape[0] // rank - outputs)).flatten()
    for rows in _chunks(input, wide, rank):
        transformed = _transformed(signal, input[rows], wide.shape[1], wide.dtype)
        found = conv.find(transformed, wide, rank, plane)
        step = plane.stride[0]
        products = found.forward(transformed, wide, bias, rank, step) if found else F.conv2d(transformed, wide, bias, *plane, rank)
        output(_narrowed(products, rank, outputs), out[rows].flatten(2))
    return out


def backward(
    gradient: Tensor,
    input: Tensor,
    filters: Tensor,
    signal: Transform,
    output: Transform,
    plane: Plane,
    needed: tuple[bool, bool, bool],
) -> list[Tensor | None]:
    """Gradients of input, filters and bias, those that are needed."""
    rank = signal.rows
    outputs, inputs = gradient.shape[2], input.shape[2]
    wide = _widened(input, filters, rank, plane)
    to_input = torch.empty_like(input, memory_format=torch.contiguous_format) if needed[0] else None
    totals: list[Tensor | None] = [None, None]
    for rows in _chunks(input, wide, rank):
        at_products = _transformed(output.T, gradient[rows], wide.shape[0] // rank, wide.dtype)
        transformed = _transformed(signal, input[rows], wide.shape[1], wide.dtype)
        found = conv.find(transformed, wide, rank, plane)
        if found and kernels.in_reach(at_products):
            at_input, *parts = found.backward(at_products, transformed, wide, rank, needed, plane.stride[0])
        else:
            at_input, *parts = torch.ops.aten.convolution_backward(
                at_products, transformed, wide, [len(wide)], *plane, False, [0, 0], rank, list(needed)
            )
        if to_input is not None and at_input is not None:
            signal.T(_narrowed(at_input, rank, inputs), to_input[rows].flatten(2))
        totals = [part if total is None or part is None else total.add_(part) for total, part in zip(totals, parts, strict=True)]
    to_filters, to_bias = (total if total is None else total.unflatten(0, (rank, -1))[:, :outputs] for total in totals)
    return [
        to_input,
        None if to_filters is None else to_filters[:, :, :inputs].flatten(0, 1),
        None if to_bias is None else to_bias.flatten(),
    ]


def _widened(input: Tensor, filters: Tensor, rank: int, plane: Plane) -> Tensor:
    """`(R C', C, kh, kw)` with channels of zeros added, as many as make the convolution fast.

    Not where a compiled one takes any number of them, and not while somebody watches: a count of the arithmetic is the same on
    every device.
    """
    if filters.device.type != "cpu" or filters.dtype != torch.float32 or kernels.watched():
        return filters
    if conv.find(input, filters, rank, plane):
        return filters
    missing = [-channels % LANES if channels >= FEWEST else 0 for channels in (len(filters) // rank, filters.shape[1])]
    if not any(missing):
        return filters
    return F.pad(filters.unflatten(0, (rank, -1)), (0, 0, 0, 0, 0, missing[1], 0, missing[0])).flatten(0, 1)


def _transformed(transform: Transform, functions: Tensor, channels: int, dtype: torch.dtype) -> Tensor:
    """`(B, G, C, H, W)` to `(B, R channels, H, W)`: those after the first C are zero."""
    batch, _, there, *plane = functions.shape
    if there == channels:
        return transform(functions.flatten(2)).to(dtype).unflatten(2, (there, *plane)).flatten(1, 2)
    out = functions.new_empty(batch, transform.rows, channels, *plane, dtype=dtype)
    out[:, :, there:] = 0
    transform(functions.flatten(2), out[:, :, :there].flatten(2))
    return out.flatten(1, 2)


def _narrowed(products: Tensor, rank: int, channels: int) -> Tensor:
    """`(B, R wide, H, W)` to `(B, R, channels H W)`: the first channels of each product."""
    return products.unflatten(1, (rank, -1))[:, :, :channels].flatten(2)


def _chunks(input: Tensor, filters: Tensor, rank: int) -> Iterator[slice]:
    """Batch slices whose transform stays in the cache and in the allocator's small blocks.

    Fresh pages cost several times the arithmetic on them. Filters are read once a slice, so a slice is no smaller than they.
    """
    batch = input.shape[0]
    one = rank * filters.shape[1] * input[:1, 0, 0].numel() * filters.element_size()
    most = max(CHUNK_BYTES, filters.numel() * filters.element_size()) if input.device.type == "cpu" else one * batch
    step = -(-batch // max(1, -(-one * batch // most)))
    # An empty batch is one empty slice, so that its gradients have shapes.
    return (slice(start, start + step) for start in range(0, max(batch, 1), max(step, 1)))
