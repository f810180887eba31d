"""The fixed matrices of the Fourier backend, applied along the group axis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from t3cen.ops.cpu import kernels

LEAST_COUNT = 4
"""Numbers of a function; with fewer it leaves most of a vector empty."""


class Transform(NamedTuple):
    """A matrix of `bilinear.cyclic_convolution`, or its transpose: its values on some device, and which one it is."""

    matrix: Tensor
    which: kernels.Which

    @property
    def rows(self) -> int:
        return self.matrix.shape[0]

    @property
    def T(self) -> Transform:
        return Transform(self.matrix.T, self.which.T)

    def __call__(self, functions: Tensor, out: Tensor | None = None) -> Tensor:
        """Apply an `(R, G)` matrix along the group axis of `(B, G, N)`, in the matrix's precision.

        Written to `out`, in its own precision and without a gradient, if there is one.
        """
        if self.matrix.shape == (1, 1):
            # Only the trivial group has a single product, and its transform is the identity.
            return functions if out is None else out.copy_(functions)
        functions = functions.to(self.matrix.dtype)
        kernel = kernels.find(self.which, functions)
        if out is not None:
            fits = out.dtype == self.matrix.dtype and (kernel is None or out.stride(2) == 1)
            apply = kernel or self._product
            return apply(functions, out) if fits else out.copy_(apply(functions, None))
        if kernel is None:
            return self._product(functions, None)
        differentiated = torch.is_grad_enabled() and functions.requires_grad
        return _Differentiable.apply(functions, self, kernel) if differentiated else kernel(functions, None)

    def of_many(self, functions: Tensor, rows_outside: bool) -> Tensor:
        """Apply an `(R, G)` matrix along the group axis of `(N, G, K)`, with many functions of few numbers each.

        In memory the result, `(N, R, K)`, is contiguous as it is, or as `(R, N, K)` where rows are outside.
        """
        if self.matrix.shape == (1, 1):
            return functions
        functions = functions.to(self.matrix.dtype)
        count = functions.shape[2]
        kernel = kernels.find(replace(self.which, count=count), functions) if count >= LEAST_COUNT else None
        if kernel is None:
            rows = self(functions.transpose(0, 1).flatten(1)[None])[0].unflatten(1, (-1, count)).transpose(0, 1)
            return rows if rows_outside else rows.contiguous()
        return _OfMany.apply(functions, self, kernel, rows_outside)

    def _product(self, functions: Tensor, out: Tensor | None) -> Tensor:
        batched = self.matrix.expand(functions.shape[0], -1, -1)
        return torch.bmm(batched, functions) if out is None else torch.bmm(batched, functions, out=out)


class _Differentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, functions: Tensor, transform: Transform, kernel: kernels.Kernel) -> Tensor:
        ctx.transform = transform
        return kernel(functions, None)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transform.T(gradient), None, None


class _OfMany(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, functions: Tensor, transform: Transform, kernel: kernels.Kernel, rows_outside: bool) -> Tensor:
        ctx.transform, ctx.rows_outside = transform, rows_outside
        many, _, count = functions.shape
        if rows_outside:
            return kernel(functions, functions.new_empty(transform.rows, many, count).transpose(0, 1))
        return kernel(functions, functions.new_empty(many, transform.rows, count))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.transform.T.of_many(gradient, not ctx.rows_outside), None, None, None
