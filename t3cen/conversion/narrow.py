"""A network with fewer channels: every layer takes what reaches it, and gives a part of what it gave."""

from __future__ import annotations

import copy
import itertools
import math
from collections import defaultdict
from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.utils.parametrize import is_parametrized

from t3cen.conversion.trace import Cut, Trace, described

KNOWN = (nn.Conv2d, nn.ConvTranspose2d, nn.Linear, _NormBase, nn.GroupNorm, nn.LayerNorm, nn.PReLU)
Width = Callable[[int], int]


def check_layers(model: nn.Module) -> None:
    """Refuse what is not known well enough to be narrowed and converted.

    Raises:
        ValueError: parameters of more than one axis outside the layers that are known; a layer whose parameters are made of
            others; a layer norm over more than the channels.
    """
    for name, module in model.named_modules():
        where = described(model, name)
        if is_parametrized(module):
            raise ValueError(
                f"{where} has parametrised parameters; call torch.nn.utils.parametrize.remove_parametrizations first"
            )
        if isinstance(module, nn.LayerNorm) and len(module.normalized_shape) > 1:
            raise ValueError(f"{where} normalises over {module.normalized_shape}; over the channels alone is known")
        if not isinstance(module, KNOWN):
            for parameter, value in module.named_parameters(recurse=False):
                if sum(size > 1 for size in value.shape) > 1:
                    raise ValueError(
                        f"{where} has a parameter {parameter} {tuple(value.shape)}: known are nn.Conv2d, nn.ConvTranspose2d, "
                        "nn.Linear, norms, nn.PReLU, and one number per channel"
                    )


def is_depthwise(conv: nn.Conv2d | nn.ConvTranspose2d) -> bool:
    """Whether every channel is convolved by itself."""
    return conv.groups > 1 and conv.groups == conv.in_channels


def narrowed(model: nn.Module, example: Tensor, trace: Trace, factor: float) -> nn.Module:
    """A copy with about `factor` times the channels everywhere, but for those of the outputs.

    Args:
        model: on the meta device.
        example: what it is run with.
        trace: of the model.
        factor: in (0, 1].

    Returns:
        the copy, on the meta device: shapes without values.

    Raises:
        ValueError: which module cannot be narrowed, and why.
    """
    if factor == 1:
        return model
    made, width = copy.deepcopy(model), _width(model, factor)
    resize = _Resize(width, trace)
    for name, module in made.named_modules():
        if isinstance(module, KNOWN):
            module.register_forward_pre_hook(lambda m, args, name=name: resize(name, m, args[0]))
        else:
            _narrow_numbers(module, width)
    after = Trace(made, example, " with fewer channels")
    if absent := [name for name, m in made.named_modules() if isinstance(m, KNOWN) and name not in resize.done]:
        raise ValueError(f"{described(model, absent[0])} took no part when the network ran; delete it, or give another example")
    _same_cuts(model, trace, after)
    for module in made.modules():
        module._forward_pre_hooks.clear()
    return made


def _width(model: nn.Module, factor: float) -> Width:
    """From channels to fewer: the nearest number that all groups of such channels divide."""
    steps: dict[int, int] = defaultdict(lambda: 1)
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)) and not is_depthwise(module):
            for channels in (module.in_channels, module.out_channels):
                steps[channels] = math.lcm(steps[channels], module.groups)
        elif isinstance(module, nn.GroupNorm):
            steps[module.num_channels] = math.lcm(steps[module.num_channels], module.num_groups)
    return lambda channels: steps[channels] * max(1, round(channels * factor / steps[channels]))


class _Resize:
    """Gives a layer as many inputs as reach it, when they first do."""

    def __init__(self, width: Width, trace: Trace) -> None:
        self.width, self.trace = width, trace
        self.done: set[str] = set()

    def __call__(self, name: str, layer: nn.Module, input: Tensor) -> None:
        if name in self.done:
            return
        self.done.add(name)
        if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d)):
            self._conv(layer, input.shape[1], name in self.trace.last)
        elif isinstance(layer, nn.Linear):
            layer.in_features = input.shape[-1]
            layer.out_features = layer.out_features if name in self.trace.last else self.width(layer.out_features)
            _reshape(layer, weight=(layer.out_features, layer.in_features), bias=(layer.out_features,))
        elif isinstance(layer, _NormBase):
            layer.num_features = input.shape[1]
            _reshape(layer, **dict.fromkeys(("weight", "bias", "running_mean", "running_var"), (layer.num_features,)))
        elif isinstance(layer, nn.GroupNorm):
            _divides(layer.num_groups, input.shape[1])
            layer.num_channels = input.shape[1]
            _reshape(layer, weight=(layer.num_channels,), bias=(layer.num_channels,))
        elif isinstance(layer, nn.LayerNorm):
            axis = -1 if self.trace.shapes[name][-1] == layer.normalized_shape[0] else 1
            layer.normalized_shape = (input.shape[axis],)
            _reshape(layer, weight=layer.normalized_shape, bias=layer.normalized_shape)
        elif isinstance(layer, nn.PReLU) and layer.num_parameters > 1:
            layer.num_parameters = input.shape[1]
            _reshape(layer, weight=(layer.num_parameters,))

    def _conv(self, conv: nn.Conv2d | nn.ConvTranspose2d, inputs: int, last: bool) -> None:
        outputs = conv.out_channels if last else self.width(conv.out_channels)
        if is_depthwise(conv):
            outputs = conv.out_channels // conv.in_channels * inputs
            conv.groups = inputs
        _divides(conv.groups, inputs)
        _divides(conv.groups, outputs)
        conv.in_channels, conv.out_channels = inputs, outputs
        first, second = (inputs, outputs) if isinstance(conv, nn.ConvTranspose2d) else (outputs, inputs)
        _reshape(conv, weight=(first, second // conv.groups, *conv.kernel_size), bias=(outputs,))


def _divides(groups: int, channels: int) -> None:
    if channels % groups:
        raise ValueError(f"{channels} channels are left, which its {groups} groups do not divide")


def _reshape(module: nn.Module, **shapes: tuple[int, ...]) -> None:
    """Give parameters and buffers, those that there are, other shapes."""
    for name, shape in shapes.items():
        old = getattr(module, name, None)
        if old is not None and old.shape != shape:
            new = old.new_empty(shape)
            setattr(module, name, nn.Parameter(new) if isinstance(old, nn.Parameter) else new)


def _narrow_numbers(module: nn.Module, width: Width) -> None:
    """One number per channel, wherever its axis is."""
    for name, value in module.named_parameters(recurse=False):
        _reshape(module, **{name: tuple(width(size) if size > 1 else 1 for size in value.shape)})


def _same_cuts(model: nn.Module, before: Trace, after: Trace) -> None:
    """Refuse a network that cuts its channels at fixed places: narrowed, it would cut elsewhere.

    Raises:
        ValueError: the module that does, and where.
    """
    for old, new in itertools.zip_longest(before.cuts, after.cuts):
        if not (old and new and _same_cut(old, new)):
            name = (old or new)[0]
            was, now = (f"{cut[1]} at {cut[2]}" if cut else "none" for cut in (old, new))
            raise ValueError(
                f"{described(model, name)} cuts its channels, {was}, and when there are fewer, {now}: places that do not "
                'move with the number of channels cannot be narrowed; convert with match="width"'
            )


def _same_cut(old: Cut, new: Cut) -> bool:
    (_, size, places), (_, left, found) = old, new
    return len(places) == len(found) and all(abs(f - p * left / size) < 1 for p, f in zip(places, found, strict=True))


def parameters(model: nn.Module, times: Callable[[nn.Module], int] = lambda module: 1) -> int:
    """The number of parameters of a network, the weights of each module counted as often as `times` says."""
    found = {}
    for module in model.modules():
        for name, value in module.named_parameters(recurse=False):
            found[id(value)] = value.numel() * (times(module) if name == "weight" else 1)
    return sum(found.values())
