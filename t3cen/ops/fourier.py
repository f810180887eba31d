"""Group convolution in the Fourier domain of the group: transform, convolve frequency by frequency, transform back.

Written as a bilinear algorithm (`algebra.bilinear`): every step is a matrix product along the group axis or an ordinary
convolution in groups, one a product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops import transform
from t3cen.ops.geometry import ConvGeometry, Pair
from t3cen.ops.operator import one_by_one, operator
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
    return fourier_conv2d(input, filters, bias, list(orders), *map(list, geometry))


def reference(
    input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], stride: Pair, padding: Pair, dilation: Pair
) -> Tensor:
    """`fourier_conv2d` in plain differentiable operations."""
    rows = rank(orders)
    wide = input.to(torch.promote_types(input.dtype, filters.dtype)).flatten(2)
    transformed = transform.reference(wide, orders, "signal", False, False).to(filters.dtype)
    if bias is not None:
        # A constant function on the group lives at frequency zero, which comes first.
        bias = F.pad(bias * input.shape[1], (0, (rows - 1) * len(bias)))
    maps = transformed.view(-1, rows * input.shape[2], *input.shape[3:])
    groups = rows * (input.shape[2] // filters.shape[1])
    products = F.conv2d(maps, filters, bias, stride, padding, dilation, groups)
    by_product = products.unflatten(1, (rows, -1)).flatten(2)
    return (
        transform.reference(by_product, orders, "output", False, False).to(filters.dtype).unflatten(2, (-1, *products.shape[2:]))
    )


def _fake(
    input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], stride: Pair, padding: Pair, dilation: Pair
) -> Tensor:
    size = ConvGeometry(stride, padding, dilation).output_size(input.shape[3:], filters.shape[2:])
    return filters.new_empty(*input.shape[:2], filters.shape[0] // rank(orders), *size)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> tuple[Tensor, Tensor]:
    input, filters, _, *ctx.how = inputs
    # The input's transform, 1.25 to 1.5 times as large, is made again in the backward pass.
    return input, filters


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    to_input, to_filters, to_bias = ctx.needs_input_grad[:3]
    found: tuple[Tensor | None, Tensor | None] = (None, None)
    if to_input or to_filters:
        found = fourier_conv2d_backward(gradient, *ctx.saved_tensors, *ctx.how, [to_input, to_filters])
        found = found[0] if to_input else None, found[1] if to_filters else None
    return *found, gradient.sum((0, 1, 3, 4)) if to_bias else None, *[None] * len(ctx.how)


def _tangent(ctx: Any, to_input: Tensor | None, to_filters: Tensor | None, to_bias: Tensor | None, *_: None) -> Tensor:
    input, filters = ctx.primals
    parts = [] if to_input is None else [fourier_conv2d(to_input, filters, to_bias, *ctx.how)]
    if to_filters is not None:
        parts.append(fourier_conv2d(input, to_filters, None if parts else to_bias, *ctx.how))
    if not parts:
        parts.append(fourier_conv2d(torch.zeros_like(input), filters, to_bias, *ctx.how))
    return sum(parts[1:], parts[0])


def _batched(info: Any, in_dims: tuple[Any, ...], input: Tensor, filters: Tensor, *rest: Any) -> tuple[Tensor, int]:
    if in_dims[1] is not None or in_dims[2] is not None:
        return one_by_one(fourier_conv2d, info, in_dims, input, filters, *rest)
    together = fourier_conv2d(input.movedim(in_dims[0], 0).flatten(0, 1), filters, *rest)
    return together.unflatten(0, (info.batch_size, -1)), 0


def _flops(input: Any, filters: Any, bias: Any, orders: list[int], *_: Any, out_shape: Any, **__: Any) -> int:
    batch, size, channels, height, width = input
    outputs, places = out_shape[2], out_shape[3] * out_shape[4]
    transforms = rank(orders) * size * (channels * height * width + outputs * places)
    return 2 * batch * (torch.Size(filters).numel() * places + transforms)


def _fake_backward(gradient: Tensor, input: Tensor, filters: Tensor, *how: Any) -> tuple[Tensor, Tensor]:
    return _room(input, how[-1][0]), _room(filters, how[-1][1])


def _room(like: Tensor, needed: bool) -> Tensor:
    """For a gradient; none is said by a tensor without entries."""
    return like.new_empty(like.shape if needed else 0)


def _save_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> tuple[Tensor, Tensor, Tensor]:
    gradient, input, filters, *ctx.how, ctx.needed = inputs
    return gradient, input, filters


def _backward_of_backward(ctx: Any, of_input: Tensor, of_filters: Tensor) -> tuple[Tensor | None, ...]:
    # The convolution is bilinear, so the gradients of its gradients are itself and its gradients.
    gradient, input, filters = ctx.saved_tensors
    to_gradient = to_input = to_filters = None
    if ctx.needed[0]:
        to_gradient = fourier_conv2d(of_input, filters, None, *ctx.how)
        _, to_filters = fourier_conv2d_backward(gradient, of_input, filters, *ctx.how, [False, True])
    if ctx.needed[1]:
        other = fourier_conv2d(input, of_filters, None, *ctx.how)
        to_gradient = other if to_gradient is None else to_gradient + other
        to_input, _ = fourier_conv2d_backward(gradient, input, of_filters, *ctx.how, [True, False])
    return to_gradient, to_input, to_filters, *[None] * (len(ctx.how) + 1)


def _tangent_of_backward(
    ctx: Any, of_gradient: Tensor | None, of_input: Tensor | None, of_filters: Tensor | None, *_: None
) -> tuple[Tensor, Tensor]:
    gradient, input, filters = ctx.primals
    to_input, to_filters = _room(input, ctx.needed[0]).zero_(), _room(filters, ctx.needed[1]).zero_()
    if of_gradient is not None:
        parts = fourier_conv2d_backward(of_gradient, input, filters, *ctx.how, ctx.needed)
        to_input, to_filters = to_input + parts[0], to_filters + parts[1]
    if of_filters is not None and ctx.needed[0]:
        to_input = to_input + fourier_conv2d_backward(gradient, input, of_filters, *ctx.how, [True, False])[0]
    if of_input is not None and ctx.needed[1]:
        to_filters = to_filters + fourier_conv2d_backward(gradient, of_input, filters, *ctx.how, [False, True])[1]
    return to_input, to_filters


def _flops_backward(gradient: Any, input: Any, filters: Any, orders: list[int], *how: Any, **_: Any) -> int:
    needed, products = how[-1], _flops(input, filters, None, orders, out_shape=gradient)
    return products * sum(needed)


@operator(
    "fourier_conv2d_backward(Tensor gradient, Tensor input, Tensor filters, int[] orders, "
    "int[2] stride, int[2] padding, int[2] dilation, bool[2] needed) -> (Tensor, Tensor)",
    fake=_fake_backward,
    save=_save_backward,
    backward=_backward_of_backward,
    tangent=_tangent_of_backward,
    flops=_flops_backward,
)
def fourier_conv2d_backward(
    gradient: Tensor,
    input: Tensor,
    filters: Tensor,
    orders: list[int],
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    needed: tuple[bool, bool],
) -> tuple[Tensor, Tensor]:
    """Gradients of the input and the filters of `fourier_conv2d`; one that is not needed has no entries."""
    rows = rank(orders)
    at_products = transform.reference(gradient.flatten(2), orders, "output", True, False).to(filters.dtype)
    wide = input.to(torch.promote_types(input.dtype, filters.dtype)).flatten(2)
    transformed = transform.reference(wide, orders, "signal", False, False).to(filters.dtype)
    to_maps, to_filters, _ = torch.ops.aten.convolution_backward(
        at_products.view(len(gradient), -1, *gradient.shape[3:]),
        transformed.view(len(input), -1, *input.shape[3:]),
        filters,
        None,
        stride,
        padding,
        dilation,
        False,
        [0, 0],
        rows * (input.shape[2] // filters.shape[1]),
        [*needed, False],
    )
    to_input = _room(input, False)
    if needed[0]:
        to_input = (
            transform.reference(to_maps.view(*transformed.shape), orders, "signal", True, False).to(input.dtype).view(input.shape)
        )
    return to_input, to_filters if needed[1] else _room(filters, False)


@operator(
    "fourier_conv2d(Tensor input, Tensor filters, Tensor? bias, int[] orders, "
    "int[2] stride, int[2] padding, int[2] dilation) -> Tensor",
    fake=_fake,
    save=_save,
    backward=_backward,
    tangent=_tangent,
    batched=_batched,
    flops=_flops,
)
def fourier_conv2d(
    input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], stride: Pair, padding: Pair, dilation: Pair
) -> Tensor:
    """`fourier_group_conv2d` as an operator, for groups that are not trivial."""
    return reference(input, filters, bias, orders, stride, padding, dilation)
