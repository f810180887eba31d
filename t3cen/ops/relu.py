"""ReLU of band-limited functions on a group by its cell averages, which fold far less into the band than its values do.

The function is interpolated to Q points of an axis, and taken as straight between neighbours. ReLU has a closed average along a
straight piece, and the averages of all pieces are samples of its result after a moving average one piece long. So there is a
filter in front of the sampling: what would fold onto frequency k comes from `Q - k` and is multiplied by `sinc((Q - k) / Q)`,
about `k / Q`.

On several axes a piece is a diagonal of a cell of the grid. All `2^(axes - 1)` diagonals are averaged: of a function that is
positive everywhere, frequency k is then multiplied by `cos(pi k / Q)` of each axis, which `mean_projection` divides by. So that
function comes back as it was, as from ReLU itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from t3cen.algebra.band import fine_orders, interpolation, mean_projection
from t3cen.ops import cells
from t3cen.ops.axes import along_axes
from t3cen.ops.operator import as_own, operator
from t3cen.ops.transform import exact

CPU_PIECE, GPU_PIECE = 2**19, 2**26
"""Values on the finer grid that are made at a time: they fit a processor's cache, or a modest part of a GPU's memory."""


class Grid(NamedTuple):
    """The finer grid of a group, and the matrices along each axis that interpolate to it and project cell averages from it."""

    orders: tuple[int, ...]
    up: list[Tensor]
    down: list[Tensor]

    def interpolated(self, f: Tensor) -> Tensor:
        """`(B, G, ...)` to `(B, *orders, ...)`, float32 at least: less would leave more error than the aliasing."""
        return self._along(self.up, f).unflatten(1, self.orders)

    def projected(self, averages: Tensor) -> Tensor:
        """`(B, *orders, ...)` to `(B, G, ...)`."""
        return self._along(self.down, averages.flatten(1, len(self.orders)))

    def interpolated_back(self, gradient: Tensor) -> Tensor:
        """The transpose of `interpolated`."""
        return self._along([matrix.T for matrix in self.up], gradient.flatten(1, len(self.orders)))

    def projected_back(self, gradient: Tensor) -> Tensor:
        """The transpose of `projected`."""
        return self._along([matrix.T for matrix in self.down], gradient).unflatten(1, self.orders)

    def _along(self, matrices: list[Tensor], f: Tensor) -> Tensor:
        with torch.autocast(f.device.type, enabled=False):
            return along_axes(matrices, f.to(self.up[0].dtype))


_GRIDS: dict[tuple[Any, ...], Grid] = {}


def grid(orders: Sequence[int], points: int, like: Tensor) -> Grid:
    """The grid of `points` times as many points on each axis, on the device of `like`; float64 if that is, else float32."""
    key = (*orders, points, exact(like.dtype), like.device)
    # A tracer's tensors are its own, so nothing made for them is kept.
    if type(like) in (Tensor, nn.Parameter) and key in _GRIDS:
        return _GRIDS[key]
    fine = fine_orders(orders, points)
    up, down = (
        [torch.as_tensor(matrix(n, q), dtype=exact(like.dtype), device=like.device) for n, q in zip(orders, fine, strict=True)]
        for matrix in (interpolation, mean_projection)
    )
    made = Grid(fine, up, down)
    if type(like) in (Tensor, nn.Parameter):
        _GRIDS[key] = made
    return made


def reference(f: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """`band_limited_relu` in plain differentiable operations, all images at once."""
    fine = grid(orders, points, f)
    return fine.projected(cells.averages(fine.interpolated(f), fine.orders)).to(f.dtype)


def reference_backward(gradient: Tensor, f: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """`band_limited_relu_backward` in plain differentiable operations, all images at once."""
    fine = grid(orders, points, f)
    g = fine.projected_back(gradient) / len(cells.corners(orders))
    slopes = (cells.slopes(*ends) for ends in cells.ends(fine.interpolated(f), fine.orders))
    return fine.interpolated_back(cells.ends_back(((a * g, b * g) for a, b in slopes), fine.orders)).to(f.dtype)


def _push(f: Tensor, change: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """The change of the result with that of the function."""
    fine = grid(orders, points, f)
    changes = cells.ends(fine.interpolated(change), fine.orders)
    made = []
    for (start, end), (to_start, to_end) in zip(cells.ends(fine.interpolated(f), fine.orders), changes, strict=True):
        of_start, of_end = cells.slopes(start, end)
        made.append(of_start * to_start + of_end * to_end)
    return fine.projected(functools.reduce(torch.add, made) / len(made)).to(f.dtype)


def _push_backward(gradient: Tensor, f: Tensor, change: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """The change of `reference_backward` with that of the function; of two changes it is symmetric, as second derivatives are."""
    fine = grid(orders, points, f)
    g = fine.projected_back(gradient) / len(cells.corners(orders))

    def products() -> Iterator[cells.Pair]:
        changes = cells.ends(fine.interpolated(change), fine.orders)
        for (start, end), (to_start, to_end) in zip(cells.ends(fine.interpolated(f), fine.orders), changes, strict=True):
            of_start, of_end = cells.bends(start, end)
            along = g * (of_start * to_start + of_end * to_end) / cells.length(start, end)
            yield of_start * along, of_end * along

    return fine.interpolated_back(cells.ends_back(products(), fine.orders)).to(f.dtype)


def _in_pieces(make: Callable[..., Tensor], *tensors: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """`make` of a few images at a time."""
    f = tensors[-1]
    one = torch.Size(fine_orders(orders, points)).numel() * f.shape[2:].numel()
    count = max(1, (GPU_PIECE if f.is_cuda else CPU_PIECE) // max(one, 1))
    if len(f) <= count:
        return as_own(make(*tensors, orders, points).contiguous())
    out = f.new_empty(f.shape)
    for start in range(0, len(f), count):
        out[start : start + count] = make(*(t[start : start + count] for t in tensors), orders, points)
    return out


def in_pieces(f: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """The kernel of `band_limited_relu` for every device."""
    return _in_pieces(reference, f, orders=orders, points=points)


def in_pieces_backward(gradient: Tensor, f: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """The kernel of `band_limited_relu_backward` for every device."""
    return _in_pieces(reference_backward, gradient, f, orders=orders, points=points)


def _fake(*arguments: Any) -> Tensor:
    f = arguments[-3]
    return f.new_empty(f.shape)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> tuple[Tensor, ...]:
    *tensors, ctx.orders, ctx.points = inputs
    return tuple(tensors)


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    return band_limited_relu_backward(gradient, *ctx.saved_tensors, ctx.orders, ctx.points), None, None


def _tangent(ctx: Any, change: Tensor, *_: Any) -> Tensor:
    (f,) = ctx.primals
    return _push(f, change, ctx.orders, ctx.points)


@operator(
    "band_limited_relu(Tensor f, int[] orders, int points) -> Tensor",
    fake=_fake,
    save=_save,
    backward=_backward,
    tangent=_tangent,
    plain=reference,
)
def band_limited_relu(f: Tensor, orders: Sequence[int], points: int) -> Tensor:
    """Interpolate to a finer grid, take ReLU's cell averages there, and project onto the band; gradients keep the input alone.

    Args:
        f: `(B, G, ...)`.
        orders: of the cyclic factors.
        points: points of an axis of the finer grid as a multiple of its order, at least 2.

    Returns:
        shaped like `f`, and in its precision.
    """
    return in_pieces(f, orders, points)


def _backward_twice(ctx: Any, of_f: Tensor) -> tuple[Tensor | None, ...]:
    gradient, f = ctx.saved_tensors
    which = ctx.orders, ctx.points
    return _push(f, of_f, *which).to(gradient.dtype), _push_backward(gradient, f, of_f, *which), None, None


def _tangent_backward(ctx: Any, to_gradient: Tensor, to_f: Tensor, *_: Any) -> Tensor:
    gradient, f = ctx.primals
    which = ctx.orders, ctx.points
    return band_limited_relu_backward(to_gradient, f, *which) + _push_backward(gradient, f, to_f, *which)


band_limited_relu_backward = operator(
    "band_limited_relu_backward(Tensor gradient, Tensor f, int[] orders, int points) -> Tensor",
    fake=_fake,
    save=_save,
    backward=_backward_twice,
    tangent=_tangent_backward,
    plain=reference_backward,
)(in_pieces_backward)
"""From the gradient of the result to that of the function."""
