"""Group convolution in the Fourier domain of the group: transform, convolve frequency by frequency, transform back.

Written as a bilinear algorithm (`algebra.bilinear`): every step is a matrix product along the group axis or an ordinary
convolution in groups, one a product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.algebra.sparse_factors import Name
from t3cen.ops.geometry import ConvGeometry
from t3cen.ops.operator import operator
from t3cen.ops.transform import group_transform, rank


def transform_filters(weight: Tensor, orders: tuple[int, ...], reversed: bool = False) -> Tensor:
    """Filters to the Fourier domain of the group.

    Args:
        weight: `(C', C / groups, *orders, kh, kw)`.
        orders: of the cyclic factors.
        reversed: whether they are read backwards, `psi(-b)`, which makes a correlation of the convolution.

    Returns:
        `(R C', C / groups, kh, kw)`; the weight itself, reshaped, for the trivial group.
    """
    outputs, inputs, kernel = *weight.shape[:2], weight.shape[-2:]
    filters = weight.reshape(outputs * inputs, -1, kernel.numel())
    if filters.shape[1] > 1:
        filters = group_transform(filters, list(orders), "reversed_filters" if reversed else "filters", False, True)
    return filters.reshape(-1, inputs, *kernel)


def fourier_group_conv2d(
    input: Tensor, filters: Tensor, bias: Tensor | None, orders: tuple[int, ...], geometry: ConvGeometry
) -> Tensor:
    """Group convolution with filters that are already transformed.

    Args:
        input: `(B, G, C, H, W)`.
        filters: `(R C', C / groups, kh, kw)`, from `transform_filters`: their shape says in how many groups the channels are.
            Convolutions run in their precision, transforms in float32 at least.
        bias: `(C',)` or None.
        orders: of the cyclic factors.
        geometry: stride, padding and dilation.

    Returns:
        `(B, G, C', H', W')` in the precision of the filters.
    """
    if input.shape[1] == 1:
        # An ordinary convolution: the transform is the identity.
        groups = input.shape[2] // filters.shape[1]
        return F.conv2d(input.squeeze(1).to(filters.dtype), filters, bias, *geometry, groups).unsqueeze(1)
    if filters.shape[-2:] == (1, 1) and geometry.padding == (0, 0):
        # A strided 1x1 kernel never sees what lies between its steps: leave it out before transforming.
        input = input[..., :: geometry.stride[0], :: geometry.stride[1]]
        geometry = geometry._replace(stride=(1, 1))
    bias = None if bias is None else bias.to(filters.dtype)
    return fourier_conv2d(input, filters, bias, list(orders), geometry.numbers)


def _backward(saved: list[Any], needed: Sequence[bool], gradient: Tensor) -> list[Tensor | None]:
    # The input's transform, 1.25 to 1.5 times as large, is made again.
    input, filters, _, *how = saved
    found = fourier_conv2d_backward(gradient, input, filters, *how, needed[:2]) if any(needed[:2]) else (None, None)
    return [*found, gradient.sum((0, 1, 3, 4)) if needed[2] else None]


def _flops(input: Any, filters: Any, bias: Any, orders: list[int], *_: Any, out_shape: Any, **__: Any) -> int:
    batch, size, channels, height, width = input
    outputs, places = out_shape[2], out_shape[3] * out_shape[4]
    transforms = rank(orders) * size * (channels * height * width + outputs * places)
    return 2 * batch * (torch.Size(filters).numel() * places + transforms)


@operator(
    "fourier_conv2d(Tensor input, Tensor filters, Tensor? bias, int[] orders, int[6] geometry) -> Tensor",
    backward=_backward,
    flops=_flops,
)
def fourier_conv2d(input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], geometry: list[int]) -> Tensor:
    """`fourier_group_conv2d` as an operator, for groups that are not trivial; `geometry` is `ConvGeometry.numbers`."""
    rows = rank(orders)
    maps = _transformed(input, orders, "signal", filters).flatten(1, 2)
    if bias is not None:
        # A constant function on the group lives at frequency zero, which comes first.
        bias = F.pad(bias * input.shape[1], (0, (rows - 1) * len(bias)))
    groups = rows * (input.shape[2] // filters.shape[1])
    products = F.conv2d(maps, filters, bias, *ConvGeometry.of(geometry), groups)
    return _transformed(products.unflatten(1, (rows, -1)), orders, "output", filters)


def _flops_backward(gradient: Any, input: Any, filters: Any, orders: list[int], *how: Any, **_: Any) -> int:
    return sum(how[-1]) * _flops(input, filters, None, orders, out_shape=gradient)


@operator(
    "fourier_conv2d_backward(Tensor gradient, Tensor input, Tensor filters, int[] orders, int[6] geometry, bool[2] needed) "
    "-> (Tensor, Tensor)",
    flops=_flops_backward,
)
def fourier_conv2d_backward(
    gradient: Tensor, input: Tensor, filters: Tensor, orders: list[int], geometry: list[int], needed: list[bool]
) -> tuple[Tensor, Tensor]:
    """Gradients of the input and the filters of `fourier_conv2d`; one that is not needed has no entries."""
    transformed = _transformed(input, orders, "signal", filters)
    groups = transformed.shape[1] * (input.shape[2] // filters.shape[1])
    at_products = _transformed(gradient, orders, "output", filters, transposed=True).flatten(1, 2)
    how = (*ConvGeometry.of(geometry), False, [0, 0], groups, [*needed, False])
    to_maps, to_filters, _ = torch.ops.aten.convolution_backward(at_products, transformed.flatten(1, 2), filters, None, *how)
    to_input = input.new_empty(0)
    if needed[0]:
        to_input = _transformed(to_maps.view(transformed.shape), orders, "signal", input, transposed=True)
    return to_input, to_filters if needed[1] else filters.new_empty(0)


def _transformed(f: Tensor, orders: list[int], name: Name, like: Tensor, transposed: bool = False) -> Tensor:
    """`(B, G, C, H, W)` to `(B, R, C, H, W)`, or back, in the precision of `like`."""
    wide = f.to(torch.promote_types(f.dtype, like.dtype)).flatten(2)
    return group_transform.plain(wide, orders, name, transposed, False).to(like.dtype).unflatten(2, f.shape[2:])
