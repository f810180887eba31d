"""Group layers on folded functions on the group, `(B G, C, ...)`, made after plain ones."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupActivation, GroupBatchNorm2d, GroupConv2d
from t3cen.nn.conv import Pair

Layer = TypeVar("Layer", bound=nn.Module)
Plain = nn.Conv2d | nn.ConvTranspose2d | nn.Linear


class FoldedConv2d(GroupConv2d):
    """`GroupConv2d` on `(B G, C, H, W)`; arguments as there."""

    def forward(self, input: Tensor) -> Tensor:
        """`(B G, C, H, W)` to `(B G, C', H', W')`."""
        return super().forward(input.unflatten(0, (-1, self.group.order))).flatten(0, 1)


class FoldedConvTranspose2d(FoldedConv2d):
    """A transposed convolution that mixes the elements of the group, `nn.ConvTranspose2d` for the trivial group.

    Output pixels that are `stride` apart come from one convolution of the input, and all of them from one with `stride` squared
    times the channels (Shi et al., 2016, "sub-pixel convolution"): so it runs on the operators of `GroupConv2d`.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, output_padding, bias, groups: as in `nn.ConvTranspose2d`.
        group: as in `GroupConv2d`.

    Shape:
        `(B G, C, H, W)` to `(B G, C', H', W')`; weight `(C', C / groups, *group.orders, kh, kw)`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        group: CyclicProduct,
        stride: Pair,
        padding: Pair,
        output_padding: Pair,
        bias: bool = True,
        groups: int = 1,
    ) -> None:
        self.taps = tuple(-(-size // step) for size, step in zip(kernel_size, stride, strict=True))
        super().__init__(in_channels, out_channels, kernel_size, group, bias=bias, groups=groups)
        self.steps, self.cut, self.output_padding = stride, padding, output_padding
        self.padding = cast(Pair, tuple(taps - 1 for taps in self.taps))

    @property
    def fan_in(self) -> int:
        """Inputs to one output value: of each `stride` taps of the kernel, one."""
        return self.in_channels // self.groups * self.group.order * math.prod(self.taps)

    def filter_bank(self) -> Tensor:
        """The filters of all places within a step, `(C' sh sw, C / groups, *orders, taps, taps)`."""
        (sh, sw), (th, tw), (kh, kw) = self.steps, self.taps, self.kernel_size
        whole = F.pad(self.weight, (0, tw * sw - kw, 0, th * sh - kh))
        parts = whole.unflatten(-1, (tw, sw)).unflatten(-3, (th, sh)).flip(-4, -2)
        return parts.movedim((-3, -1), (1, 2)).flatten(0, 2)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """`(B G, C, H, W)` to `(B G, C', H', W')`; `output_size` as in `nn.ConvTranspose2d`."""
        maps = input.unflatten(0, (-1, self.group.order))
        self._check(maps)
        parts = self.convolve(maps, None).flatten(0, 1).unflatten(1, (self.out_channels, *self.steps))
        out = parts.movedim((2, 3), (3, 5)).flatten(4, 5).flatten(2, 3)
        least = [
            (side - 1) * step - 2 * cut + size
            for side, step, cut, size in zip(input.shape[2:], self.steps, self.cut, self.kernel_size, strict=True)
        ]
        wanted = [size + more for size, more in zip(least, self.output_padding, strict=True)]
        if output_size is not None:
            wanted = list(output_size[-2:])
            if any(not size <= side < size + step for side, size, step in zip(wanted, least, self.steps, strict=True)):
                raise ValueError(f"output_size must lie in {least} and be less than a stride above, got {wanted}")
        (top, left), (height, width) = self.cut, wanted
        # What output_padding adds may lie behind the last tap: zeros.
        out = F.pad(out, (0, max(left + width - out.shape[3], 0), 0, max(top + height - out.shape[2], 0)))
        out = out[:, :, top : top + height, left : left + width]
        return out if self.bias is None else out + self.bias[:, None, None]


class FoldedLinear(GroupConv2d):
    """A linear layer along the last axis of `(B G, ..., C)` that mixes the elements of the group: a 1x1 `GroupConv2d`.

    Args:
        in_features, out_features: per group element.
        group, bias: as in `GroupConv2d`.
    """

    def __init__(self, in_features: int, out_features: int, group: CyclicProduct, bias: bool = True) -> None:
        super().__init__(in_features, out_features, 1, group, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """`(B G, ..., C)` to `(B G, ..., C')`."""
        maps = input.unflatten(0, (-1, self.group.order)).movedim(-1, 2)
        places = maps.shape[3:]
        out = super().forward(maps.reshape(*maps.shape[:3], -1, 1)).flatten(3)
        return out.unflatten(3, places).movedim(2, -1).flatten(0, 1) if places else out.flatten(2).flatten(0, 1)


class FoldedActivation(GroupActivation):
    """`GroupActivation` on `(B G, C, ...)`; arguments as there."""

    def forward(self, input: Tensor) -> Tensor:
        """`(B G, C, ...)` to `(B G, ...)`."""
        return super().forward(input.unflatten(0, (-1, self.group.order))).flatten(0, 1)


def mixing(old: Plain, shape: Plain, group: CyclicProduct) -> GroupConv2d:
    """The group layer in the place of a plain one.

    Args:
        old: the plain layer; where its number of channels stays, its weights are the filters at the identity, beside zeros.
        shape: a plain layer with the numbers of channels to make.
        group: the group.
    """
    bias = old.bias is not None
    made: GroupConv2d
    if isinstance(shape, nn.Linear):
        made = FoldedLinear(shape.in_features, shape.out_features, group, bias)
    elif isinstance(shape, nn.ConvTranspose2d):
        made = FoldedConvTranspose2d(
            shape.in_channels, shape.out_channels, cast(Pair, shape.kernel_size), group, cast(Pair, shape.stride),
            cast(Pair, shape.padding), cast(Pair, shape.output_padding), bias, shape.groups,
        )  # fmt: skip
    else:
        kernel_size, stride, padding, dilation = (
            cast(Pair, value) for value in (shape.kernel_size, shape.stride, shape.padding, shape.dilation)
        )
        made = FoldedConv2d(
            shape.in_channels, shape.out_channels, kernel_size, group, stride, padding, dilation, bias, shape.padding_mode,
            groups=shape.groups,
        )  # fmt: skip
    made.to(old.weight)
    with torch.no_grad():
        if shape.weight.shape == old.weight.shape:
            made.weight.zero_()
            # Elements are row-major, the identity first.
            made.weight.flatten(2).unflatten(2, (group.order, -1))[:, :, 0] = _filters(old).flatten(2)
            if made.bias is not None and old.bias is not None:
                made.bias.copy_(old.bias)
        else:
            _keep_constants(old, made)
    return _same_state(old, made)


def _filters(layer: Plain) -> Tensor:
    """The weights, outputs first: `(C', C / groups, ...)`."""
    weight = layer.weight.detach()
    if not isinstance(layer, nn.ConvTranspose2d):
        return weight[..., None] if weight.ndim == 2 else weight
    return weight.unflatten(0, (layer.groups, -1)).transpose(1, 2).flatten(0, 1)


def alike(old: nn.Module, shape: nn.Module) -> nn.Module:
    """A module that treats all group elements alike, with the channels of `shape`.

    Its parameters are new, unless they are one number everywhere, as a norm's are that no training has changed: such stay.
    """
    made: nn.Module
    if type(old) is nn.BatchNorm2d:
        made = GroupBatchNorm2d(
            cast(nn.BatchNorm2d, shape).num_features, old.eps, old.momentum, old.affine, old.track_running_stats
        )
        made.to(next((t for t in (*old.parameters(), *old.buffers()) if t.is_floating_point()), torch.empty(0)))
    elif not any(a.shape != b.shape for a, b in zip(old.parameters(False), shape.parameters(False), strict=True)):
        return old
    else:
        made = copy.deepcopy(shape).to_empty(device=next(old.parameters()).device)
        made.reset_parameters()  # type: ignore[operator]  # every layer of KNOWN has it
    if all(value.shape == made.state_dict()[name].shape for name, value in old.state_dict().items()):
        made.load_state_dict(old.state_dict())
    else:
        _keep_constants(old, made)
    return _same_state(old, made)


def narrow_numbers(module: nn.Module, shape: nn.Module) -> None:
    """Leave as many of a module's own numbers per channel as `shape` has, the first."""
    for name, value in list(module.named_parameters(recurse=False)):
        kept = value.detach()[tuple(map(slice, getattr(shape, name).shape))].clone()
        setattr(module, name, nn.Parameter(kept, value.requires_grad))


def _keep_constants(old: nn.Module, made: nn.Module) -> None:
    with torch.no_grad():
        for name, value in old.named_parameters(recurse=False):
            if value.ndim == 1 and (value == value[0]).all():
                getattr(made, name).fill_(value[0])


def _same_state(old: nn.Module, made: Layer) -> Layer:
    for name, value in old.named_parameters(recurse=False):
        getattr(made, name).requires_grad_(value.requires_grad)
    return made.train(old.training)
