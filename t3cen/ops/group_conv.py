"""Group convolution: which implementation a layer takes, and in which precision it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

BACKENDS = ("auto", "direct", "fourier")
# The measured crossover of the backends (docs/performance.md): narrow layers of small groups do not earn back their transforms.
LEAST_WIDTH = 64


def choose_backend(orders: Sequence[int], in_channels: int, out_channels: int) -> str:
    """`"direct"` or `"fourier"`, whichever is faster for a layer of this group and width."""
    order = math.prod(orders)
    return "fourier" if order == 1 or order * math.sqrt(in_channels * out_channels) >= LEAST_WIDTH else "direct"


def precision(weight: Tensor) -> torch.dtype:
    """The precision in which a convolution with `weight` runs: an autocast's, or the weight's own."""
    device = weight.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
