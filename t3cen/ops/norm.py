"""Batch normalisation by the batch's own statistics, with the residual sum and the ReLU behind it, as one operator.

With `hat = (maps - mean) * inverse`, where `inverse = 1 / sqrt(variance + eps)`, a change of the maps changes `hat` by `inverse`
times what is left of that change without its mean and without its part along `hat`. That map is its own transpose, so gradients
and tangents of every order are made of it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops.operator import as_own, operator
from t3cen.ops.transform import exact

Gradients = tuple[Tensor, Tensor, Tensor, Tensor]


def reference(
    maps: Tensor, weight: Tensor | None, bias: Tensor | None, shortcut: Tensor | None, eps: float, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm_act` in plain operations."""
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
    return out, mean.to(_statistics(maps)), variance.to(_statistics(maps))


def kernel(*arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The kernel of `batch_norm_act` for every device."""
    out, mean, variance = reference(*arguments)
    return as_own(out), mean, variance


def _fake(maps: Tensor, weight: Any, bias: Any, shortcut: Any, eps: float, relu: bool) -> tuple[Tensor, Tensor, Tensor]:
    mean, variance = (maps.new_empty(maps.shape[-3], dtype=_statistics(maps)) for _ in range(2))
    return _empty_like(maps), mean, variance


def _save(ctx: Any, inputs: tuple[Any, ...], outputs: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor | None, ...]:
    maps, weight, bias, shortcut, ctx.eps, ctx.relu = inputs
    out, mean, variance = outputs
    ctx.mark_non_differentiable(mean, variance)
    # The result only where a sum decides what ReLU lets through.
    return maps, weight, bias, mean, variance, None if shortcut is None else out


def _backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: under activation checkpointing they are made again for it
    maps, weight, bias, *_, result = saved
    made = batch_norm_act_backward(gradient, *saved, ctx.eps, ctx.relu)
    there = (maps, weight, bias, result)
    return *(t if primal is not None else None for t, primal in zip(made, there, strict=True)), None, None


def _tangent(ctx: Any, *tangents: Any) -> tuple[Tensor, None, None]:
    maps, weight, *_ = ctx.primals
    positive = _positive(ctx.eps, ctx.relu, *ctx.primals)
    return _push(maps, weight, positive, ctx.eps, *tangents[:4]).to(maps.dtype), None, None


@operator(
    "batch_norm_act(Tensor maps, Tensor? weight, Tensor? bias, Tensor? shortcut, float eps, bool relu) "
    "-> (Tensor, Tensor, Tensor)",
    fake=_fake,
    save=_save,
    backward=_backward,
    tangent=_tangent,
    plain=reference,
)
def batch_norm_act(
    maps: Tensor, weight: Tensor | None, bias: Tensor | None, shortcut: Tensor | None, eps: float, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
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
    return kernel(maps, weight, bias, shortcut, eps, relu)


def reference_backward(
    gradient: Tensor,
    maps: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    result: Tensor | None,
    eps: float,
    relu: bool,
) -> Gradients:
    """`batch_norm_act_backward` in plain operations."""
    positive, dtype = _positive(eps, relu, maps, weight, bias, mean, variance, result), exact(maps.dtype)
    gradient = _folded(_where(positive, gradient)).contiguous(memory_format=_format(maps))
    inverse = (variance + eps).rsqrt()
    scale = None if weight is None else weight.to(dtype)
    to_maps, to_weight, to_bias = torch.ops.aten.native_batch_norm_backward(
        gradient, _folded(maps), scale, None, None, mean.to(dtype), inverse.to(dtype), True, eps, [True] * 3
    )
    to_shortcut = maps.new_empty(0) if result is None else gradient.view(maps.shape)
    return to_maps.view(maps.shape), to_weight.to(_dtype(weight, maps)), to_bias.to(_dtype(bias, maps)), to_shortcut


def _fake_backward(
    gradient: Tensor, maps: Tensor, weight: Any, bias: Any, mean: Any, variance: Any, result: Any, eps: float, relu: bool
) -> Gradients:
    to_weight, to_bias = (maps.new_empty(maps.shape[-3], dtype=_dtype(t, maps)) for t in (weight, bias))
    return _empty_like(maps), to_weight, to_bias, maps.new_empty(0) if result is None else _empty_like(maps)


def _save_backward(ctx: Any, inputs: tuple[Any, ...], outputs: Gradients) -> tuple[Tensor | None, ...]:
    *tensors, ctx.eps, ctx.relu = inputs
    return tuple(tensors)


def _backward_twice(ctx: Any, of_maps: Tensor, of_weight: Tensor, of_bias: Tensor, of_shortcut: Tensor) -> tuple[Any, ...]:
    """From gradients of the four gradients to those of the gradient, the maps and the weight."""
    gradient, *saved = ctx.saved_tensors
    maps, weight, *_, result = saved
    positive = _positive(ctx.eps, ctx.relu, *saved)
    tangents = (of_maps, of_weight, of_bias, None if result is None else of_shortcut)
    to_gradient = _push(maps, weight, positive, ctx.eps, *tangents)
    dtype = exact(maps.dtype)
    g, a, scale = _where(positive, gradient).to(dtype), of_maps.to(dtype), _by_channel(weight, dtype)
    hat, inverse = _standardized(maps, ctx.eps)
    product = _mean(_across(g, hat) * a)
    along = _by_channel(of_weight, dtype) * g - scale * inverse * (a * _mean(hat * g) + g * _mean(hat * a))
    to_maps = inverse * _across(along, hat) - scale * inverse.square() * product * hat
    count = maps.numel() // maps.shape[-3]
    to_weight = None if weight is None else (inverse * product * count).flatten().to(weight.dtype)
    return to_gradient.to(gradient.dtype), to_maps.to(maps.dtype), to_weight, *[None] * 6


def _tangent_backward(ctx: Any, *tangents: Any) -> Gradients:
    gradient, maps, weight, bias, _, _, result = ctx.primals
    positive, dtype = _positive(ctx.eps, ctx.relu, *ctx.primals[1:]), exact(maps.dtype)
    g, to_g = (_where(positive, t).to(dtype) for t in (gradient, tangents[0]))
    scale = _by_channel(weight, dtype)
    hat, inverse = _standardized(maps, ctx.eps)
    change = tangents[1].to(dtype)
    to_hat, to_inverse = inverse * _across(change, hat), -inverse.square() * _mean(hat * change)
    to_maps = scale * inverse * (_across(to_g, hat) - to_hat * _mean(hat * g) - hat * _mean(to_hat * g))
    to_slope = scale * to_inverse + (0 if weight is None else _by_channel(tangents[2], dtype) * inverse)
    to_maps = to_maps + to_slope * _across(g, hat)
    to_weight, to_bias = _total(to_g * hat + g * to_hat).to(_dtype(weight, maps)), _total(to_g).to(_dtype(bias, maps))
    return to_maps.to(maps.dtype), to_weight, to_bias, maps.new_empty(0) if result is None else to_g.to(maps.dtype)


def kernel_backward(*arguments: Any) -> Gradients:
    """The kernel of `batch_norm_act_backward` for every device."""
    to_maps, to_weight, to_bias, to_shortcut = reference_backward(*arguments)
    return as_own(to_maps), to_weight, to_bias, as_own(to_shortcut)


batch_norm_act_backward = operator(
    "batch_norm_act_backward(Tensor gradient, Tensor maps, Tensor? weight, Tensor? bias, Tensor mean, Tensor variance,"
    " Tensor? result, float eps, bool relu) -> (Tensor, Tensor, Tensor, Tensor)",
    fake=_fake_backward,
    save=_save_backward,
    backward=_backward_twice,
    tangent=_tangent_backward,
    plain=reference_backward,
)(kernel_backward)
"""From the gradient of the result to those of maps, weight, bias and shortcut, which is empty where there was none."""


def _push(
    maps: Tensor,
    weight: Tensor | None,
    positive: Tensor | None,
    eps: float,
    to_maps: Tensor,
    to_weight: Tensor | None,
    to_bias: Tensor | None,
    to_shortcut: Tensor | None,
) -> Tensor:
    """The change of the result with those of maps, weight, bias and shortcut; which values ReLU lets through is constant."""
    dtype = exact(maps.dtype)
    hat, inverse = _standardized(maps, eps)
    made = _by_channel(weight, dtype) * inverse * _across(to_maps.to(dtype), hat)
    made = made if to_weight is None else made + _by_channel(to_weight, dtype) * hat
    made = made if to_bias is None else made + _by_channel(to_bias, dtype)
    return _where(positive, made if to_shortcut is None else made + to_shortcut)


def _standardized(maps: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """`hat`, shaped like `maps`, and `inverse`, one for each channel."""
    centred = maps.to(exact(maps.dtype))
    centred = centred - _mean(centred)
    inverse = (_mean(centred.square()) + eps).rsqrt()
    return centred * inverse, inverse


def _across(change: Tensor, hat: Tensor) -> Tensor:
    """What is left of a change of the maps without its mean and without its part along `hat`."""
    return change - _mean(change) - hat * _mean(hat * change)


def _positive(
    eps: float,
    relu: bool,
    maps: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    result: Tensor | None,
) -> Tensor | None:
    """Where ReLU lets values through, what is not a number among them; None without one."""
    if result is None and relu:
        dtype = exact(maps.dtype)
        weight, bias = (t if t is None else t.to(dtype) for t in (weight, bias))
        result = F.batch_norm(_folded(maps), mean.to(dtype), variance.to(dtype), weight, bias, False, 0.0, eps).view(maps.shape)
    return None if result is None else ~(result <= 0)


def _where(positive: Tensor | None, values: Tensor) -> Tensor:
    return (
        values if positive is None else torch.where(positive, values, torch.zeros((), dtype=values.dtype, device=values.device))
    )


def _mean(values: Tensor) -> Tensor:
    return values.mean([axis for axis in range(values.ndim) if axis != values.ndim - 3], keepdim=True)


def _total(values: Tensor) -> Tensor:
    return values.sum([axis for axis in range(values.ndim) if axis != values.ndim - 3])


def _by_channel(values: Tensor | None, dtype: torch.dtype) -> Tensor | float:
    return 1.0 if values is None else values.to(dtype)[:, None, None]


def _dtype(parameter: Tensor | None, maps: Tensor) -> torch.dtype:
    return exact(maps.dtype) if parameter is None else parameter.dtype


def _statistics(maps: Tensor) -> torch.dtype:
    """Far from zero only double precision keeps the digits of a difference from the mean; not every device has it."""
    return torch.float64 if maps.device.type == "cpu" else exact(maps.dtype)


def _format(maps: Tensor) -> torch.memory_format:
    folded = maps.flatten(0, -4)
    last = folded.is_contiguous(memory_format=torch.channels_last) and not folded.is_contiguous()
    return torch.channels_last if last else torch.contiguous_format


def _folded(maps: Tensor) -> Tensor:
    """`(N, C, H, W)`, contiguous or channels last."""
    return maps.flatten(0, -4).contiguous(memory_format=_format(maps))


def _empty_like(maps: Tensor) -> Tensor:
    return torch.empty_like(maps.flatten(0, -4), memory_format=_format(maps)).view(maps.shape)
