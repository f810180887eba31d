"""The products of a Fourier-domain group convolution as one grouped convolution, a few images at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.nn.plane import Plane
from t3cen.nn.transform import Transform

CHUNK_BYTES = 8 * 2**20


def forward(input: Tensor, filters: Tensor, bias: Tensor | None, signal: Transform, output: Transform, plane: Plane) -> Tensor:
    """`(B, G, C, H, W)` and `(R C', C, kh, kw)` to `(B, G, C', H', W')`."""
    rank = signal.rows
    size = plane.output_size(input.shape[3:], filters.shape[2:])
    out = filters.new_empty(*input.shape[:2], filters.shape[0] // rank, *size)
    for rows in _chunks(input, filters, rank):
        products = F.conv2d(_transformed(signal, input[rows], filters.dtype), filters, bias, *plane, rank)
        output(products.unflatten(1, (rank, -1)).flatten(2), out[rows].flatten(2))
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
    to_input = torch.empty_like(input, memory_format=torch.contiguous_format) if needed[0] else None
    totals: list[Tensor | None] = [None, None]
    for rows in _chunks(input, filters, rank):
        at_products = _transformed(output.T, gradient[rows], filters.dtype)
        transformed = _transformed(signal, input[rows], filters.dtype)
        at_input, *parts = torch.ops.aten.convolution_backward(
            at_products, transformed, filters, [len(filters)], *plane, False, [0, 0], rank, list(needed)
        )
        if to_input is not None:
            signal.T(at_input.unflatten(1, (rank, -1)).flatten(2), to_input[rows].flatten(2))
        totals = [part if total is None else total.add_(part) for total, part in zip(totals, parts, strict=True)]
    return [to_input, *totals]


def _transformed(transform: Transform, functions: Tensor, dtype: torch.dtype) -> Tensor:
    """`(B, G, C, H, W)` to `(B, R C, H, W)`."""
    mixed = transform(functions.flatten(2)).to(dtype)
    return mixed.unflatten(2, functions.shape[2:]).flatten(1, 2)


def _chunks(input: Tensor, filters: Tensor, rank: int) -> Iterator[slice]:
    """Batch slices whose transform stays in the cache and in the allocator's small blocks.

    Fresh pages cost several times the arithmetic on them. Filters are read once a slice, so a slice is no smaller than they.
    """
    batch = input.shape[0]
    one = rank * input[:1, 0].numel() * filters.element_size()
    most = max(CHUNK_BYTES, filters.numel() * filters.element_size()) if input.device.type == "cpu" else one * batch
    step = -(-batch // max(1, -(-one * batch // most)))
    # An empty batch is one empty slice, so that its gradients have shapes.
    return (slice(start, start + step) for start in range(0, max(batch, 1), max(step, 1)))
