"""Nonlinearities on band-limited functions: on a finer group, and back to the band."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from t3cen.algebra.band import fine_orders
from t3cen.groups import CyclicProduct
from t3cen.nn.band_limited.limit import Interpolate, Project, ProjectMeans, along_axes, check_entries
from t3cen.ops.cpu import kernels
from t3cen.ops.cpu.relu import Rectified, means

CPU_PIECE, GPU_PIECE = 2**19, 2**26  # values on the finer group made at a time
RANDOM = (nn.modules.dropout._DropoutNd, nn.RReLU)


class GroupActivation(nn.Module):
    """Any nonlinearity that treats group elements alike, made to commute with every rotation of the circle, nearly.

    A nonlinearity of N samples makes frequencies that N samples cannot hold; folded back into the band, they no longer turn
    with the signal. So the samples are interpolated to `Q = points * N` places, the nonlinearity is applied there, and only the
    frequencies of the band are kept. What is left is the aliasing of frequencies from `Q - K` on (docs/continuous.md).

    `nn.ReLU` is averaged along the pieces between the places (`rectified`), which damps that by another factor of `Q / K`; on
    the CPU all of it is one compiled loop. Any other nonlinearity is evaluated at the places: a polynomial of degree d leaves no
    aliasing once `Q > (d + 1) K`, a smooth function little, one with a kink more than ReLU.

    The tensor on the finer group is made a few images at a time and made again in the backward pass, so that only the input
    is kept.

    Args:
        nonlinearity: a deterministic module on `(B, G, C, H, W)` that treats all group elements alike and each image by
            itself, such as `nn.ReLU()` or `nn.GELU()`. Its `inplace` is switched off. For max-pooling see `GroupMaxPool2d`.
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
        for module in nonlinearity.modules():
            if getattr(module, "inplace", False):
                # The finer tensor is a view, and autograd would copy more than would be saved.
                module.inplace = False  # type: ignore[assignment]
        self.nonlinearity = nonlinearity
        self.group = group
        self.points = points
        self.fine = fine_orders(group.orders, points)
        # One piece a sample would be too coarse: its means have next to nothing left of the highest frequencies.
        self.rectifies = type(nonlinearity) is nn.ReLU and points > 1
        self.up = Interpolate(group, points)
        self.down = ProjectMeans(group, points) if self.rectifies else Project(group, points)

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, C, H, W)` -> `(B, G, C', H', W')`."""
        check_entries(input, self.group)
        if self.group.order == 1:
            return self.nonlinearity(input)
        if torch.compiler.is_compiling() or torch.jit.is_tracing():
            return self.whole(input)
        parameters = tuple(p for p in self.nonlinearity.parameters() if p.requires_grad)
        return _ByPieces.apply(input, self, *parameters)

    def whole(self, input: Tensor) -> Tensor:
        """The same in plain differentiable operations, for compilers, exporters and second derivatives."""
        # Half precision would leave more error than the aliasing, so the finer group is computed in float32.
        exact = input.to(torch.promote_types(input.dtype, torch.float32))
        with torch.autocast(input.device.type, enabled=False):
            return self.down(self.at(self.up(exact))).to(input.dtype)

    def at(self, points: Tensor) -> Tensor:
        """What is projected, of values on the finer group, in their precision, which parameters need not have."""
        if self.rectifies:
            return means(points, self.fine)
        parameters = dict(self.nonlinearity.named_parameters())
        if all(p.dtype == points.dtype for p in parameters.values()):
            return self.nonlinearity(points)
        return functional_call(self.nonlinearity, {name: p.to(points.dtype) for name, p in parameters.items()}, points)

    def pieces(self, input: Tensor) -> list[slice]:
        """Slices of the batch whose values on the finer group fit a processor's cache, or a modest part of a GPU's memory."""
        one = self.up.entries * input.shape[1:].numel() // self.group.order
        count = max(1, (GPU_PIECE if input.is_cuda else CPU_PIECE) // max(one, 1))
        return [slice(start, start + count) for start in range(0, len(input), count)]

    def compiled(self, input: Tensor, *gradient: Tensor) -> Tensor | None:
        """The result, or with the result's gradient the input's, in one compiled loop; None where there is none for it."""
        if not self.rectifies:
            return None
        tensors = [t.to(torch.promote_types(t.dtype, torch.float32)).flatten(2) for t in (input, *gradient)]
        kernel = kernels.find(Rectified(self.group.orders, self.points, bool(gradient)), *tensors)
        return None if kernel is None else kernel(tensors[0], more=tensors[-1]).view(input.shape).to(input.dtype)

    def extra_repr(self) -> str:
        return f"points={self.points}, {self.group}"


class _ByPieces(torch.autograd.Function):
    """`GroupActivation.whole`, compiled or a few images at a time; of all it makes, only the input is kept."""

    @staticmethod
    def forward(input: Tensor, layer: GroupActivation, *parameters: Tensor) -> Tensor:
        done = layer.compiled(input)
        if done is not None:
            return done
        pieces = layer.pieces(input)
        if len(pieces) <= 1:
            return layer.whole(input)
        first = layer.whole(input[pieces[0]])
        output = first.new_empty(len(input), *first.shape[1:])
        output[pieces[0]] = first
        for piece in pieces[1:]:
            output[piece] = layer.whole(input[piece])
        return output

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        input, ctx.layer, *parameters = inputs
        ctx.save_for_backward(input, *parameters)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        input, *parameters = ctx.saved_tensors
        layer: GroupActivation = ctx.layer
        if torch.is_grad_enabled():
            # Somebody wants to differentiate this gradient.
            wanted = [input, *parameters] if ctx.needs_input_grad[0] else parameters
            found = torch.autograd.grad(layer.whole(input), wanted, gradient, create_graph=True)
            return (found[0], None, *found[1:]) if ctx.needs_input_grad[0] else (None, None, *found)
        done = layer.compiled(input, gradient)
        if done is not None:
            return done, None
        result, totals = torch.empty_like(input), [torch.zeros_like(p) for p in parameters]
        for piece in layer.pieces(input):
            result[piece], *parts = _gradients(layer, input[piece], gradient[piece], parameters)
            for total, part in zip(totals, parts, strict=True):
                total += part
        return result, None, *totals


def _gradients(layer: GroupActivation, input: Tensor, gradient: Tensor, parameters: list[Tensor]) -> tuple[Tensor, ...]:
    """Gradients for the input and the parameters; the projection is linear, so its result need not be made again."""
    exact = input.detach().to(torch.promote_types(input.dtype, torch.float32)).requires_grad_()
    with torch.autocast(input.device.type, enabled=False):
        with torch.enable_grad():
            fine = layer.at(layer.up(exact))
        fine_gradient = along_axes([m.T for m in layer.down.matrices(exact)], gradient.to(exact.dtype))
        return torch.autograd.grad(fine, [exact, *parameters], fine_gradient)
