"""Nonlinearities on band-limited functions: on a finer group, and back to the band."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from t3cen.groups import CyclicProduct
from t3cen.nn.band_limit import Interpolate, Project, check_entries

RANDOM = (nn.modules.dropout._DropoutNd, nn.RReLU)


class GroupActivation(nn.Module):
    """Any nonlinearity that treats group elements alike, made to commute with every rotation of the circle, nearly.

    A nonlinearity of N samples makes frequencies that N samples cannot hold; folded back into the band, they no longer turn
    with the signal. So the samples are interpolated to `points * N` places, the nonlinearity is applied there, and only the
    frequencies of the band are kept. What is left is the aliasing of frequencies from `points * N - K` on
    (docs/continuous.md); a polynomial of degree d leaves none once `points * N > (d + 1) K`.

    The tensor on the finer group is made a few images at a time and made again in the backward pass, so that only the input
    is kept.

    Args:
        nonlinearity: a deterministic module on `(B, G, C, H, W)` that treats all group elements alike and each image by
            itself, such as `nn.ReLU()` or `Planar(nn.MaxPool2d(2))`.
        group: the group; axes of order 1 are left alone.
        points: points of an axis as a multiple of its order N, at least 1. With 1 and an odd order it is `nonlinearity` itself.

    Shape:
        `(B, G, C, H, W)` -> `(B, G, ...)`, whatever the nonlinearity makes of the last three axes.

    Raises:
        ValueError: `points` out of range, order 2, a nonlinearity with randomness in it, or another number of group entries.
    """

    def __init__(self, nonlinearity: nn.Module, group: CyclicProduct, points: int = 3) -> None:
        super().__init__()
        random = next((module for module in nonlinearity.modules() if isinstance(module, RANDOM)), None)
        if random is not None:
            raise ValueError(f"{random} is random, and would draw anew in the backward pass; apply it outside GroupActivation")
        self.nonlinearity = nonlinearity
        self.group = group
        self.points = points
        self.up, self.down = Interpolate(group, points), Project(group, points)

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, C, H, W)` -> `(B, G, C', H', W')`."""
        check_entries(input, self.group)
        if self.group.order == 1:
            return self.nonlinearity(input)
        if torch.compiler.is_compiling() or torch.jit.is_tracing():
            return self._whole(input)
        parameters = tuple(p for p in self.nonlinearity.parameters() if p.requires_grad)
        return _ByPieces.apply(input, self, *parameters)

    def _whole(self, input: Tensor) -> Tensor:
        return self.down(self.nonlinearity(self.up(input)))

    def pieces(self, input: Tensor) -> list[slice]:
        """Slices of the batch whose values on the finer group fit a processor's cache, or a modest part of a GPU."""
        one = self.up.entries * input[0, 0].numel()
        count = max(1, (2**26 if input.is_cuda else 2**18) // max(one, 1))
        return [slice(start, start + count) for start in range(0, input.shape[0], count)]

    def extra_repr(self) -> str:
        return f"points={self.points}, {self.group}"


class _ByPieces(torch.autograd.Function):
    """`GroupActivation._whole`, piece by piece, the finer tensor made again for the gradient."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, layer: GroupActivation, *parameters: Tensor) -> Tensor:
        ctx.layer = layer
        ctx.save_for_backward(input, *parameters)
        with torch.autocast(input.device.type, enabled=False):
            pieces = layer.pieces(input)
            if len(pieces) == 1:
                return layer._whole(input)
            first = layer._whole(input[pieces[0]])
            output = first.new_empty(input.shape[0], *first.shape[1:])
            output[pieces[0]] = first
            for piece in pieces[1:]:
                output[piece] = layer._whole(input[piece])
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        layer = ctx.layer
        input, *parameters = ctx.saved_tensors
        totals = [torch.zeros_like(p) for p in parameters]
        result = torch.empty_like(input)
        with torch.autocast(input.device.type, enabled=False):
            for piece in layer.pieces(input):
                part = input[piece].detach().requires_grad_()
                with torch.enable_grad():
                    output = layer._whole(part)
                result[piece], *more = torch.autograd.grad(output, [part, *parameters], gradient[piece])
                for total, extra in zip(totals, more, strict=True):
                    total += extra
        return result, None, *totals
