"""Nonlinearities on band-limited functions: on a finer group, and back to the band."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call

from t3cen.groups import CyclicProduct
from t3cen.nn.band_limited.limit import Interpolate, Project, check_entries
from t3cen.ops import band_limited_relu, uncast


class GroupActivation(nn.Module):
    """Any nonlinearity that treats group elements alike, made to commute with every rotation of the circle, nearly.

    A nonlinearity of N samples makes frequencies that N samples cannot hold; folded back into the band, they no longer turn
    with the signal. So the samples are interpolated to `Q = points * N` places, the nonlinearity is applied there, and only the
    frequencies of the band are kept. What is left is the aliasing of frequencies from `Q - K` on (docs/continuous.md).

    `nn.ReLU`, which is not kept as a module, is averaged over the cells between the places (`ops.band_limited_relu`). That damps
    it by another factor of `Q / K`, and only the input is kept for the backward pass. Any other nonlinearity is evaluated at the
    places: a polynomial of degree d leaves no aliasing once `Q > (d + 1) K`, a smooth function little, one with a kink more than
    ReLU. What it keeps for its gradient has `points` times the size for each axis; `torch.utils.checkpoint` makes it anew.

    Args:
        nonlinearity: a module on `(B, G, C, H, W)` that treats all group elements alike, such as `nn.ReLU()` or `nn.GELU()`. Its
            `inplace` is switched off. For max-pooling see `GroupMaxPool2d`.
        group: the group; axes of order 1 are left alone.
        points: points of an axis as a multiple of its order N, at least 1. With 1 and an odd order it is `nonlinearity` itself.

    Shape:
        `(B, G, C, H, W)` -> `(B, G, ...)`, whatever the nonlinearity makes of the last three axes.

    Raises:
        ValueError: `points` out of range, order 2, or another number of group entries.
    """

    def __init__(self, nonlinearity: nn.Module, group: CyclicProduct, points: int = 3) -> None:
        super().__init__()
        for module in nonlinearity.modules():
            if getattr(module, "inplace", False):
                # The finer tensor is a view, and autograd would copy more than would be saved.
                module.inplace = False  # type: ignore[assignment]
        self.group, self.points = group, points
        # One piece a sample would be too coarse: its averages have next to nothing left of the highest frequencies.
        self.averages = type(nonlinearity) is nn.ReLU and points > 1
        up, down = Interpolate(group, points), Project(group, points)  # raise what is wrong
        if not self.averages:
            self.nonlinearity, self.up, self.down = nonlinearity, up, down

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, C, H, W)` -> `(B, G, C', H', W')`."""
        check_entries(input, self.group)
        if self.averages:
            return band_limited_relu(input, self.group.orders, self.points) if self.group.order > 1 else input.relu()
        if self.group.order == 1:
            return self.nonlinearity(input)
        # Half precision would leave more error than the aliasing, so the finer group is computed in float32.
        exact = input.to(torch.promote_types(input.dtype, torch.float32))
        with uncast(input.device):
            return self.down(self._at(self.up(exact))).to(input.dtype)

    def _at(self, places: Tensor) -> Tensor:
        """The nonlinearity of values on the finer group, in their precision, which parameters need not have."""
        parameters = dict(self.nonlinearity.named_parameters())
        if all(p.dtype == places.dtype for p in parameters.values()):
            return self.nonlinearity(places)
        return functional_call(self.nonlinearity, {name: p.to(places.dtype) for name, p in parameters.items()}, places)

    def extra_repr(self) -> str:
        return f"points={self.points}, {self.group}"
