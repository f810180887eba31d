"""The products of a Fourier-domain group convolution as one batched matrix product, for small maps and many channels.

Tensors are laid out `(R, C, H, W, B)`: with the batch innermost, gathering the patches copies long runs even from 4x4 maps.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops.geometry import Plane
from t3cen.ops.transform import Transform

MOST_POSITIONS = 16
LEAST_CHANNELS = 64


def suits(input: Tensor, filters: Tensor, plane: Plane) -> bool:
    """Whether this form is the faster one, as measured (docs/performance.md)."""
    height, width = plane.output_size(input.shape[3:], filters.shape[2:])
    small = height * width <= MOST_POSITIONS and filters.shape[1] >= LEAST_CHANNELS
    return small and len(input) > 0 and input.device.type == "cpu" and filters.dtype in (torch.float32, torch.float64)


def forward(input: Tensor, filters: Tensor, bias: Tensor | None, signal: Transform, output: Transform, plane: Plane) -> Tensor:
    """`(B, G, C, H, W)` and `(R C', C, kh, kw)` to `(B, G, C', H', W')`."""
    rank, kernel = signal.rows, filters.shape[2:]
    size = plane.output_size(input.shape[3:], kernel)
    by_product = filters.reshape(rank, -1, filters[0].numel())
    products = torch.bmm(by_product, _patches(_transformed(signal, input), kernel, plane))
    if bias is not None:
        products += bias.view(rank, -1, 1)
    return _batch_first(output(products.flatten(1)[None]), (-1, *size, input.shape[0]))


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
    rank, kernel = signal.rows, filters.shape[2:]
    by_product = filters.reshape(rank, -1, filters[0].numel())
    at_products = _transformed(output.T, gradient).flatten(2)
    grads: list[Tensor | None] = [None, None, None]
    if needed[1]:
        patches = _patches(_transformed(signal, input), kernel, plane)
        grads[1] = torch.bmm(at_products, patches.transpose(1, 2)).view_as(filters)
        del patches
    if needed[0]:
        at_patches = torch.bmm(by_product.transpose(1, 2), at_products)
        size = (*input.shape[2:], input.shape[0])
        at_input = _add_patches(at_patches, size, kernel, plane, gradient.shape[3:])
        grads[0] = _batch_first(signal.T(at_input.flatten(1)[None]), size)
    if needed[2]:
        grads[2] = at_products.sum(2).flatten()
    return grads


def _transformed(transform: Transform, functions: Tensor) -> Tensor:
    """`(B, G, C, H, W)` to `(R, C, H, W, B)`."""
    batch_last = functions.permute(1, 2, 3, 4, 0)
    return transform(batch_last.flatten(1)[None])[0].unflatten(1, batch_last.shape[1:])


def _batch_first(functions: Tensor, size: tuple[int, ...]) -> Tensor:
    """`(1, G, C H W B)` to `(B, G, C, H, W)`, contiguous."""
    return functions[0].unflatten(1, size).permute(4, 0, 1, 2, 3).contiguous()


def _patches(x: Tensor, kernel: Sequence[int], plane: Plane) -> Tensor:
    """`(R, C, H, W, B)` to `(R, C kh kw, H' W' B)`: what the kernel sees at every place."""
    top, left = plane.padding
    height, width = plane.output_size(x.shape[2:4], kernel)
    padded = F.pad(x, (0, 0, left, left, top, top)) if top or left else x.contiguous()
    products, channels, row, column, batch = padded.stride()
    window = padded.as_strided(
        (*x.shape[:2], *kernel, height, width, x.shape[-1]),
        (
            products,
            channels,
            row * plane.dilation[0],
            column * plane.dilation[1],
            row * plane.stride[0],
            column * plane.stride[1],
            batch,
        ),
    )
    return window.flatten(4).flatten(1, 3)


def _add_patches(patches: Tensor, size: Sequence[int], kernel: Sequence[int], plane: Plane, places: Sequence[int]) -> Tensor:
    """The transpose of `_patches`: `(R, C kh kw, H' W' B)` to `(R, C, H, W, B)`, added up where patches overlap."""
    channels, height, width, batch = size
    top, left = plane.padding
    padded = patches.new_zeros(len(patches), channels, height + 2 * top, width + 2 * left, batch)
    window = patches.view(len(patches), channels, *kernel, *places, batch)
    for i in range(kernel[0]):
        rows = _steps(i * plane.dilation[0], plane.stride[0], places[0])
        for j in range(kernel[1]):
            padded[:, :, rows, _steps(j * plane.dilation[1], plane.stride[1], places[1])] += window[:, :, i, j]
    return padded[:, :, top : top + height, left : left + width]


def _steps(start: int, step: int, count: int) -> slice:
    return slice(start, start + step * (count - 1) + 1, step)
