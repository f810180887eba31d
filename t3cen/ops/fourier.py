"""Group convolution in the Fourier domain of the group: transform, convolve frequency by frequency, transform back.

Written as a bilinear algorithm (see `bilinear`), every step is a matrix product along the group axis or an ordinary
convolution, and the trivial group leaves the ordinary convolution alone.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops.cpu import conv, matmul_products, products
from t3cen.ops.geometry import Plane
from t3cen.ops.transform import Transform


def fourier_group_conv2d(
    input: Tensor, filters: Tensor, bias: Tensor | None, signal: Transform, output: Transform, plane: Plane
) -> Tensor:
    """Group convolution with filters that are already transformed.

    Args:
        input: `(B, G, C, H, W)`.
        filters: `(R C', C, kh, kw)`, from `transform_filters`; convolutions run in their precision, transforms in that
            of the matrices.
        bias: `(C',)` or None.
        signal: `(R, G)` and `output` `(G, R)`: the transforms of `bilinear.cyclic_convolution`.
        plane: stride, padding and dilation.

    Returns:
        `(B, G, C', H', W')` in the precision of the filters.
    """
    if filters.shape[-2:] == (1, 1) and plane.padding == (0, 0):
        # A strided 1x1 kernel never sees what lies between its steps: leave it out before transforming.
        input = input[..., :: plane.stride[0], :: plane.stride[1]]
        plane = plane._replace(stride=(1, 1))
    products_bias = None if bias is None else transform_bias(bias, signal.matrix).to(filters.dtype)
    # The trivial group has no transforms to make again, so it is left to PyTorch's own convolution where that is as fast.
    ordinary = signal.rows == 1 and _form(input, filters, 1, plane) is None
    if ordinary or torch.compiler.is_compiling() or torch.jit.is_tracing():
        return _composite(input, filters, products_bias, signal, output, plane)
    return _FourierConv.apply(input, filters, products_bias, signal, output, plane)


def transform_filters(weight: Tensor, transform: Transform) -> Tensor:
    """`(C', C, *orders, kh, kw)` and the `(R, G)` transform of the filters to `(R C', C, kh, kw)`."""
    outputs, inputs = weight.shape[:2]
    kernel = weight.shape[-2:]
    filters = weight.reshape(outputs * inputs, -1, kernel.numel())
    return transform.of_many(filters, rows_outside=True).transpose(0, 1).reshape(-1, inputs, *kernel)


def transform_bias(bias: Tensor, signal: Tensor) -> Tensor:
    """`(C',)` to `(R C',)`: a constant function on the group lives at frequency zero, which comes first."""
    rank, size = signal.shape
    return F.pad(bias * size, (0, (rank - 1) * len(bias)))


def _form(input: Tensor, filters: Tensor, rank: int, plane: Plane) -> ModuleType | None:
    """The form of the products that is faster than PyTorch's own convolution, as measured (docs/performance.md)."""
    if conv.find(input, filters, rank, plane) is not None:
        return products
    return matmul_products if rank > 1 and matmul_products.suits(input, filters, plane) else None


def _composite(input: Tensor, filters: Tensor, bias: Tensor | None, signal: Transform, output: Transform, plane: Plane) -> Tensor:
    """The same in plain differentiable operations, for compilers, exporters and second derivatives."""
    rank = signal.rows
    transformed = signal(input.flatten(2)).to(filters.dtype)
    products = F.conv2d(transformed.view(-1, rank * input.shape[2], *input.shape[3:]), filters, bias, *plane, rank)
    out = output(products.unflatten(1, (rank, -1)).flatten(2)).to(filters.dtype)
    return out.unflatten(2, (-1, *products.shape[2:]))


class _FourierConv(torch.autograd.Function):
    """Keeps the input alone for the backward pass; its transform, 1.25 to 1.5 times as large, is made again there."""

    @staticmethod
    def forward(
        input: Tensor, filters: Tensor, bias: Tensor | None, signal: Transform, output: Transform, plane: Plane
    ) -> Tensor:
        made = _form(input, filters, signal.rows, plane) or products
        return made.forward(input, filters, bias, signal, output, plane)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        *tensors, ctx.signal, ctx.output, ctx.plane = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        input, filters, bias = ctx.saved_tensors
        needed = ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():
            # Somebody wants to differentiate this gradient.
            inputs = [t for t, need in zip((input, filters, bias), needed, strict=True) if need]
            out = _composite(input, filters, bias, ctx.signal, ctx.output, ctx.plane)
            found = iter(torch.autograd.grad(out, inputs, gradient, create_graph=True))
            return *(next(found) if need else None for need in needed), None, None, None
        made = _form(input, filters, ctx.signal.rows, ctx.plane) or products
        with torch.autocast(input.device.type, enabled=False):
            grads = made.backward(gradient, input, filters, ctx.signal, ctx.output, ctx.plane, needed)
        return *grads, None, None, None
