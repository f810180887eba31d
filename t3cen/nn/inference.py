"""A trained network made ready for inference: norms inside the filters of the convolutions before them, filters transformed."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_weights
from torch.utils._pytree import tree_leaves

from t3cen.nn.checks import check_own_parameters
from t3cen.nn.conv import GroupConv2d
from t3cen.nn.fixed_conv import FixedGroupConv2d
from t3cen.nn.norm import GroupBatchNormAct2d, ResidualActivation

CONVOLUTIONS = (GroupConv2d, nn.Conv2d)
"""Layers whose output channel c is linear in `weight[c]`, plus `bias[c]`."""


def for_inference(network: nn.Module, example: Tensor) -> nn.Module:
    """A copy in evaluation mode that computes the same with less: batch norms folded, filters transformed once.

    Every batch norm that takes the output of a convolution becomes `nn.Identity`, or what it did behind the norm. Its scale and
    shift become part of the filters and the bias of that convolution; which these are is seen by running `example`. Then every
    group convolution of the Fourier backend keeps its transformed filters alone (`FixedGroupConv2d`). The copy is an
    ordinary module, to be moved, pickled, exported, saved and loaded into another such copy, but it is not for training: its
    filters are constants, and it has no statistics to update.

    Args:
        network: e.g. from `t3cen.models.build`; it is not modified.
        example: an input, in the network's precision and on its device; its values do not matter.

    Raises:
        ValueError: the copy does not compute the same, because the output of a convolution is used beside its norm; a
            convolution is parametrised (`torch.nn.utils.parametrize`).
    """
    for module in network.modules():
        if isinstance(module, CONVOLUTIONS):
            check_own_parameters(module)
    made = copy.deepcopy(network).eval().requires_grad_(False)
    with torch.no_grad():
        want = tree_leaves(made(example))
        for conv_name, norm_name in _pairs(made, example):
            conv, norm = made.get_submodule(conv_name), made.get_submodule(norm_name)
            statistics = (norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias)
            conv.weight, conv.bias = fuse_conv_bn_weights(conv.weight, conv.bias, *statistics)  # type: ignore[arg-type]
            behind = ResidualActivation(norm.activation) if isinstance(norm, GroupBatchNormAct2d) else nn.Identity()
            made.set_submodule(norm_name, behind)
        for name, module in list(made.named_modules()):
            if isinstance(module, GroupConv2d):
                module.fix_filters()
            if type(module) is GroupConv2d and module.group.order > 1:
                made.set_submodule(name, FixedGroupConv2d.of(module))
        got = tree_leaves(made(example))
    for now, before in zip(got, want, strict=True):
        if not isinstance(before, Tensor):
            continue
        error, size = (now - before).abs().max().item(), before.abs().max().item()
        if not error <= torch.finfo(before.dtype).eps ** 0.5 * size:
            raise ValueError(
                f"with its norms folded into its convolutions the network's output, {size:.3g} at most, moves by {error:.3g}: "
                "the output of some convolution is used beside the norm that follows it. Give the norm a convolution of its own"
            )
    return made


def _pairs(network: nn.Module, example: Tensor) -> list[tuple[str, str]]:
    """Names of convolutions and of the norms that take their outputs, where each is called once."""
    outputs: dict[str, list[Any]] = defaultdict(list)
    inputs: dict[str, list[Any]] = defaultdict(list)
    hooks = []
    for name, module in network.named_modules():
        # Hooks keep the tensors themselves, so that none takes the place of another in memory.
        if isinstance(module, CONVOLUTIONS):
            hooks.append(module.register_forward_hook(lambda _, __, output, name=name: outputs[name].append(output)))
        elif isinstance(module, nn.BatchNorm2d) and module.running_mean is not None:
            hooks.append(module.register_forward_pre_hook(lambda _, args, name=name: inputs[name].append(args[0])))
    try:
        network(example)
    finally:
        for hook in hooks:
            hook.remove()
    found = []
    for conv, made in outputs.items():
        takers = [norm for norm, taken in inputs.items() if any(tensor is made[0] for tensor in taken)]
        if len(made) == 1 and len(takers) == 1 and len(inputs[takers[0]]) == 1:
            found.append((conv, takers[0]))
    return found
