"""Batch normalisation by the batch's own statistics, with the residual sum and the ReLU behind it, as one operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops.axes import exact
from t3cen.ops.operator import operator

Opt = Tensor | None
Gradients = tuple[Tensor, Tensor, Tensor, Tensor]


def _save(arguments: tuple[Any, ...], results: tuple[Tensor, Tensor, Tensor]) -> tuple[Any, ...]:
    maps, weight, bias, shortcut, *how = arguments
    out, mean, variance = results
    # The result only where a sum decides what ReLU lets through.
    return maps, weight, bias, mean, variance, None if shortcut is None else out, *how


def _backward(saved: list[Any], needed: Sequence[bool], gradient: Tensor, *_: Any) -> Gradients:
    return batch_norm_act_backward(gradient, *saved)


@operator(
    "batch_norm_act(Tensor maps, Tensor? weight, Tensor? bias, Tensor? shortcut, float eps, bool relu) "
    "-> (Tensor, Tensor, Tensor)",
    save=_save,
    backward=_backward,
    constants=2,
)
def batch_norm_act(maps: Tensor, weight: Opt, bias: Opt, shortcut: Opt, eps: float, relu: bool) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm(maps)`; ReLU of that; or ReLU of the sum of that and `shortcut`, which implies it.

    Args:
        maps: `(..., C, H, W)`, at least four axes.
        weight, bias: `(C,)` or None.
        shortcut: shaped like `maps`, in their precision, or None.
        eps: added to the variance.
        relu: whether there is a ReLU.

    Returns:
        the result, shaped like `maps`; mean and variance `(C,)` over all other axes, not for gradients: float64 on the CPU, else
        float32 at least.

    Raises:
        ValueError: one value per channel.
    """
    channels, dtype = maps.shape[-3], exact(maps.dtype)
    mean, variance = (maps.new_zeros(channels, dtype=dtype) for _ in range(2))
    weight, bias = (t.to(dtype) if t is not None and t.dtype == maps.dtype else t for t in (weight, bias))
    # As running statistics that move all the way PyTorch gives those of the batch, the variance over n - 1.
    out = F.batch_norm(_folded(maps), mean, variance, weight, bias, True, 1.0, eps).view(maps.shape)
    count = maps.numel() // channels
    variance *= (count - 1) / max(count, 1)
    if shortcut is not None:
        out += shortcut
    if relu or shortcut is not None:
        out.relu_()
    # Far from zero only double precision keeps the digits of a difference from the mean; not every device has it.
    statistics = torch.float64 if maps.device.type == "cpu" else dtype
    return out, mean.to(statistics), variance.to(statistics)


def _in_few_passes(plain: Callable[..., Gradients]) -> Callable[..., Gradients]:
    """By PyTorch's own norm."""

    def run(gradient: Tensor, maps: Tensor, weight: Any, bias: Any, *others: Any) -> Gradients:
        mean, variance, result, eps, relu = others
        folded, dtype = _folded(maps), exact(maps.dtype)
        scale, shift = (None if t is None else t.to(dtype) for t in (weight, bias))
        mean, variance = mean.to(dtype), variance.to(dtype)
        after = result
        if relu and result is None:
            after = F.batch_norm(folded, mean, variance, scale, shift, False, 0.0, eps).view(maps.shape)
        gradient = _let_through(gradient, after).flatten(0, -4).contiguous(memory_format=_format(maps))
        to_maps, to_weight, to_bias = torch.ops.aten.native_batch_norm_backward(
            gradient, folded, scale, None, None, mean, (variance + eps).rsqrt(), True, eps, [True] * 3
        )
        to_weight, to_bias = (t.to(dtype if like is None else like.dtype) for t, like in ((to_weight, weight), (to_bias, bias)))
        to_shortcut = maps.new_empty(0) if result is None else gradient.view(maps.shape)
        return to_maps.view(maps.shape), to_weight, to_bias, to_shortcut

    return run


@operator(
    "batch_norm_act_backward(Tensor gradient, Tensor maps, Tensor? weight, Tensor? bias, Tensor mean, Tensor variance,"
    " Tensor? result, float eps, bool relu) -> (Tensor, Tensor, Tensor, Tensor)",
    kernel=_in_few_passes,
)
def batch_norm_act_backward(
    gradient: Tensor, maps: Tensor, weight: Opt, bias: Opt, mean: Tensor, variance: Tensor, result: Opt, eps: float, relu: bool
) -> Gradients:
    """From the gradient of the result to those of maps, weight, bias and shortcut, which is empty where there was none.

    With the normalised maps `hat`, that of the maps is what is left of the result's without its mean and its part along `hat`.
    Mean and variance are made again of the maps, so that derivatives know of it.
    """
    wide, axes = maps.to(exact(maps.dtype)), [axis for axis in range(maps.ndim) if axis != maps.ndim - 3]
    scale, shift = (None if t is None else t.to(wide.dtype)[:, None, None] for t in (weight, bias))
    centred = wide - wide.mean(axes, keepdim=True)
    inverse = (centred.square().mean(axes, keepdim=True) + eps).rsqrt()
    hat = centred * inverse
    scaled = hat if scale is None else hat * scale
    after = result if result is not None or not relu else scaled if shift is None else scaled + shift
    g = _let_through(gradient.to(wide.dtype), after)
    to_maps = inverse * (g - g.mean(axes, keepdim=True) - hat * (hat * g).mean(axes, keepdim=True))
    to_maps = to_maps if scale is None else to_maps * scale
    to_weight, to_bias = ((hat * g).sum(axes), g.sum(axes))
    return to_maps.to(maps.dtype), to_weight, to_bias, maps.new_empty(0) if result is None else g.to(maps.dtype)


def _let_through(gradient: Tensor, after: Tensor | None) -> Tensor:
    """The gradient in front of ReLU; what is not a number counts as positive."""
    return gradient if after is None else gradient.masked_fill(after <= 0, 0)


def _format(maps: Tensor) -> torch.memory_format:
    folded = maps.flatten(0, -4)
    last = folded.is_contiguous(memory_format=torch.channels_last) and not folded.is_contiguous()
    return torch.channels_last if last else torch.contiguous_format


def _folded(maps: Tensor) -> Tensor:
    """`(N, C, H, W)`, contiguous or channels last."""
    return maps.flatten(0, -4).contiguous(memory_format=_format(maps))
