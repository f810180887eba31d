"""Matrices along the factors of a product of cyclic groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

_CONSTANTS: dict[tuple[Hashable, ...], Tensor] = {}


def constant(make: Callable[..., Any], *arguments: Hashable, like: Tensor) -> Tensor:
    """The matrix `make(*arguments)` on the device of `like`; float64 if that is, else float32. It is made once."""
    key = (make, arguments, exact(like.dtype), like.device)
    if has_numbers(like) and key in _CONSTANTS:
        return _CONSTANTS[key]
    made = torch.as_tensor(make(*arguments), dtype=exact(like.dtype), device=like.device).contiguous()
    return _CONSTANTS.setdefault(key, made) if has_numbers(made) else made


def has_numbers(t: Tensor) -> bool:
    """Whether it is no tracer's or transform's tensor; nothing made of those is kept, and they take nothing that is."""
    try:
        return type(t) in (Tensor, nn.Parameter) and t.data_ptr() >= 0
    except RuntimeError:
        return False


def exact(dtype: torch.dtype) -> torch.dtype:
    """The precision of a transform: rounding before or between transforms would cost equivariance."""
    return torch.promote_types(dtype, torch.float32)


def autocasts(device: torch.device) -> bool:
    """Whether an autocast is on there; of the meta device PyTorch refuses to say."""
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def uncast(device: torch.device) -> AbstractContextManager[Any]:
    """Out of reach of an autocast, which would round what is inside."""
    return torch.autocast(device.type, enabled=False) if autocasts(device) else nullcontext()


def along_axes(matrices: Sequence[Tensor], f: Tensor) -> Tensor:
    """Apply one matrix `(m_i, n_i)` along each factor of the group: `(B, n_1 n_2 ..., *rest)` -> `(B, m_1 m_2 ..., *rest)`."""
    batch, tail, done, left = f.shape[0], f.shape[2:], 1, math.prod(f.shape[1:])
    for matrix in matrices:
        rows, columns = matrix.shape
        left //= columns
        if rows > 1 or columns > 1:  # a factor of order 1 has nothing to mix; its matrix is 1
            # Factors already done are part of the batch, those to come part of the row.
            f = matrix.expand(batch * done, rows, columns).bmm(f.reshape(batch * done, columns, left))
        done *= rows
    return f.reshape(batch, done, *tail)
