"""The fixed matrices of the Fourier backend, applied along the group axis."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from t3cen.nn import kernels


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
