"""Batch norm in training with the sum and the ReLU behind it, compiled (`norm.c`): each a pass over the maps otherwise."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from t3cen.ops.cpu import build, kernels

BLOCK = 2**11
"""Values of a channel that are summed in single precision, or one plane: more lose digits, fewer take longer to put together."""


def suits(norm: nn.BatchNorm2d, *maps: Tensor) -> bool:
    """Whether this can be had, for maps `(B, G, C, H, W)` or `(N, C, H, W)` and what is added to them."""
    first, channels = maps[0], norm.num_features
    if not norm.training or first.ndim not in (4, 5) or first.shape[-3] != channels or not first.numel():
        return False
    if any(t.shape != first.shape or not t.is_contiguous() for t in maps):
        return False
    numbers = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
    # Parameters are not plain tensors, but what they hold may be.
    tensors = (*maps, *(t.detach() for t in numbers if t is not None))
    if not all(t.dtype == torch.float32 and kernels.in_reach(t) for t in tensors):
        return False
    if not all(t.is_contiguous() and len(t) == channels for t in tensors[len(maps) :]):
        return False
    code, reason = _code()
    if code is None:
        kernels.do_without("no norm", reason)
        return False
    return first.shape[-2:].numel() >= code.lanes


def normalize(norm: nn.BatchNorm2d, maps: Tensor, rectified: bool = False, shortcut: Tensor | None = None) -> Tensor:
    """`norm(maps)`; ReLU of that; or ReLU of the sum of that and `shortcut`, which implies it. Running statistics move as ever.

    Args:
        norm: in training.
        maps: `(B, G, C, H, W)`, or `(N, C, H, W)` when folded.
        rectified: whether there is a ReLU.
        shortcut: shaped like `maps`.
    """
    moments = maps.new_empty(2, norm.num_features, dtype=torch.float64)
    ending = _SUMMED if shortcut is not None else _RECTIFIED if rectified else _PLAIN
    out = _Normalized.apply(maps, norm.weight, norm.bias, shortcut, moments, norm.eps, ending)
    _track(norm, moments, maps.numel() // norm.num_features)
    return out


_PLAIN, _RECTIFIED, _SUMMED = range(3)


@torch.no_grad()
def _track(norm: nn.BatchNorm2d, moments: Tensor, count: int) -> None:
    """What `nn.BatchNorm2d` does to its buffers."""
    if not norm.track_running_stats:
        return
    momentum = norm.momentum
    if norm.num_batches_tracked is not None:
        norm.num_batches_tracked.add_(1)
        if momentum is None:
            momentum = 1 / float(norm.num_batches_tracked)
    if norm.running_mean is not None and norm.running_var is not None:
        mean, variance = moments.float()
        norm.running_mean.lerp_(mean, momentum or 0)
        norm.running_var.lerp_(variance * (count / (count - 1)), momentum or 0)


class _Normalized(torch.autograd.Function):
    """Keeps the maps, and the result only where a sum decides what ReLU lets through."""

    @staticmethod
    def forward(
        ctx: Any,
        maps: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        shortcut: Tensor | None,
        moments: Tensor,
        eps: float,
        ending: int,
    ) -> Tensor:
        out, lines = torch.empty_like(maps), maps.new_empty(maps.shape[-3], 3)
        places = {"maps": maps, "shortcut": shortcut, "weight": weight, "bias": bias, "out": out}
        _run("forward", maps, eps, ending, moments, lines, places)
        ctx.eps, ctx.ending = eps, ending
        ctx.save_for_backward(maps, weight, moments, lines, out if ending == _SUMMED else None)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        maps, weight, moments, lines, result = ctx.saved_tensors
        needed = ctx.needs_input_grad[:4]
        if torch.is_grad_enabled() or not kernels.in_reach(gradient):
            # Somebody wants to differentiate this gradient, or watches.
            grads = _composite(gradient, maps, weight, lines, result, ctx.eps, ctx.ending, needed)
            return *grads, None, None, None
        to_maps = torch.empty_like(maps) if needed[0] else None
        to_shortcut = None if result is None else torch.empty_like(maps)
        to_weight, to_bias = maps.new_empty(2, maps.shape[-3])
        places = {"maps": maps, "gradient": gradient.contiguous(), "result": result}
        places |= {"out": to_maps, "to_shortcut": to_shortcut, "to_weight": to_weight, "to_bias": to_bias}
        _run("backward", maps, ctx.eps, ctx.ending, moments, lines, places)
        made = (to_maps, to_weight, to_bias, to_shortcut)
        return *(t if need else None for t, need in zip(made, needed, strict=True)), None, None, None


def _composite(
    gradient: Tensor,
    maps: Tensor,
    weight: Tensor | None,
    lines: Tensor,
    result: Tensor | None,
    eps: float,
    ending: int,
    needed: tuple[bool, bool, bool, bool],
) -> list[Tensor | None]:
    """The gradients in plain differentiable operations; which values ReLU lets through is constant."""
    if ending != _PLAIN:
        centre, scale, shift = lines.t()[:, :, None, None]
        sign = (maps.detach() - centre) * scale + shift if result is None else result.detach()
        gradient = gradient.masked_fill(sign <= 0, 0)
    inputs = [t for t, need in zip((maps, weight), needed[:2], strict=True) if need and t is not None]
    found: Iterator[Tensor] = iter(())
    if inputs:
        differentiated = torch.is_grad_enabled()
        with torch.enable_grad():
            normal = F.batch_norm(maps.flatten(0, -4), None, None, weight, None, True, 0, eps).view(maps.shape)
        found = iter(torch.autograd.grad(normal, inputs, gradient, create_graph=differentiated))
    to_maps, to_weight = (next(found) if need else None for need in needed[:2])
    to_bias = gradient.sum([axis for axis in range(maps.ndim) if axis != maps.ndim - 3]) if needed[2] else None
    return [to_maps, to_weight, to_bias, gradient if needed[3] else None]


class _Job(ctypes.Structure):
    _places = ("maps", "shortcut", "gradient", "result", "weight", "bias", "out", "to_shortcut", "to_weight", "to_bias")
    _fields_ = [
        *((name, ctypes.c_void_p) for name in (*_places, "mean", "variance", "lines", "backs", "sums")),
        *((name, ctypes.c_long) for name in ("rows", "channels", "size", "block", "ending")),
        ("eps", ctypes.c_double),
    ]


class _Code(NamedTuple):
    library: ctypes.CDLL
    lanes: int


def _run(
    way: str, maps: Tensor, eps: float, ending: int, moments: Tensor, lines: Tensor, places: dict[str, Tensor | None]
) -> None:
    code, reason = _code()
    if code is None:
        raise build.UnavailableError(reason)
    channels, size = maps.shape[-3], maps.shape[-2:].numel()
    rows = maps.numel() // (channels * size)
    job = _Job(rows=rows, channels=channels, size=size, ending=ending, eps=eps, lines=lines.data_ptr())
    job.mean, job.variance = moments[0].data_ptr(), moments[1].data_ptr()
    job.block = max(1, BLOCK // size)
    for name, tensor in places.items():
        setattr(job, name, None if tensor is None else tensor.data_ptr())
    threads = min(torch.get_num_threads(), max(1, maps.numel() // kernels.LEAST_PER_THREAD))
    getattr(code.library, way)(ctypes.byref(job), threads)


@functools.cache
def _code() -> tuple[_Code | None, str]:
    """The compiled code, or why there is none."""
    try:
        library = build.library(build.package_file("norm.c"))
    except build.UnavailableError as error:
        return None, str(error)
    for function in (library.forward, library.backward):
        function.argtypes, function.restype = [ctypes.POINTER(_Job), ctypes.c_int], None
    return _Code(library, ctypes.c_int.in_dll(library, "lanes").value), ""
