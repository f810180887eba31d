"""Group convolution: which implementation a layer takes, and in which precision it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from t3cen.ops.axes import autocasts
from t3cen.ops.devices import measured

BACKENDS = ("auto", "direct", "fourier")


def choose_backend(orders: Sequence[int], in_channels: int, out_channels: int, device: torch.device) -> str:
    """`"direct"` or `"fourier"`, whichever is faster for a layer of this group and width on such a device.

    Narrow layers of small groups do not earn back their transforms (docs/performance.md).
    """
    order = math.prod(orders)
    wide = order == 1 or order * math.sqrt(in_channels * out_channels) >= measured(device).least_width
    return "fourier" if wide else "direct"


def precision(weight: Tensor) -> torch.dtype:
    """The precision in which a convolution with `weight` runs: an autocast's, or the weight's own."""
    return torch.get_autocast_dtype(weight.device.type) if autocasts(weight.device) else weight.dtype
