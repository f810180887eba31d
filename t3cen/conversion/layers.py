"""Group layers on folded functions on the group, `(B G, C, ...)`, made after plain ones."""

from __future__ import annotations

import copy
from typing import TypeVar, cast

import torch
from torch import Tensor, nn

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupActivation, GroupBatchNorm2d, GroupConv2d
from t3cen.nn.conv import Pair

Layer = TypeVar("Layer", bound=nn.Module)


class FoldedConv2d(GroupConv2d):
    """`GroupConv2d` on `(B G, C, H, W)`; arguments as there."""

    def forward(self, input: Tensor) -> Tensor:
        """`(B G, C, H, W)` to `(B G, C', H', W')`."""
        return super().forward(input.unflatten(0, (-1, self.group.order))).flatten(0, 1)


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


def mixing(old: nn.Conv2d | nn.Linear, shape: nn.Conv2d | nn.Linear, group: CyclicProduct) -> GroupConv2d:
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
            made.weight.flatten(2).unflatten(2, (group.order, -1))[:, :, 0] = old.weight.view(*old.weight.shape[:2], -1)
            if made.bias is not None and old.bias is not None:
                made.bias.copy_(old.bias)
        else:
            _keep_constants(old, made)
    return _same_state(old, made)


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
