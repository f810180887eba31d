"""Group convolution in the Fourier domain of the group: transform, convolve product by product, transform back."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional as F

Pair = Sequence[int]


def fourier_group_conv2d(
    input: Tensor,
    filters: Tensor,
    bias: Tensor | None,
    signal: Tensor,
    output: Tensor,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
) -> Tensor:
    """Group convolution with filters that are already transformed.

    Args:
        input: `(B, G, C, H, W)`.
        filters: `(R C', C, kh, kw)`, from `transform_filters`.
        bias: `(C',)` or None.
        signal: `(R, G)` and `output` `(G, R)`: the matrices of `bilinear.cyclic_convolution`.
        stride, padding, dilation: as in `torch.nn.functional.conv2d`.

    Returns:
        `(B, G, C', H', W')`.
    """
    rank, size = signal.shape
    batch, _, channels, height, width = input.shape
    transformed = mix(signal, input.flatten(2)).view(batch, rank * channels, height, width)
    products = F.conv2d(transformed, filters, None, stride, padding, dilation, rank)
    out = mix(output, products.view(batch, rank, -1))
    out = out.view(batch, size, -1, *products.shape[-2:])
    return out if bias is None else out + bias[:, None, None]


def transform_filters(weight: Tensor, filters: Tensor) -> Tensor:
    """`(C', C, *orders, kh, kw)` and the `(R, G)` matrix to `(R C', C, kh, kw)`."""
    outputs, inputs = weight.shape[:2]
    kernel = weight.shape[-2:]
    by_element = weight.reshape(outputs * inputs, -1, kernel.numel()).transpose(0, 1).flatten(1)
    return (filters @ by_element).view(-1, inputs, *kernel)


def mix(matrix: Tensor, functions: Tensor) -> Tensor:
    """Apply an `(R, G)` matrix along the group axis of `(B, G, N)`."""
    return matrix.expand(functions.shape[0], -1, -1).bmm(functions)
