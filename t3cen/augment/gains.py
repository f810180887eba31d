"""Gain jitter: the image under another white balance and exposure."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from t3cen.augment import AUGMENTATIONS
from t3cen.augment.images import to_float
from t3cen.data.light_shifts import Gains


@AUGMENTATIONS.register
class GainJitter:
    """Red, green and blue darkened by gains of their own, in linear light, exactly as the test sets `gains_*` are.

    Args:
        stops: each gain is uniform in [0, stops].

    Raises:
        ValueError: `stops` not finite and above 0.

    Not in the paper; docs/light.md.
    """

    def __init__(self, stops: float = 3.0) -> None:
        if not 0 < stops < math.inf:
            raise ValueError(f"stops must be a finite number > 0, got {stops}; use augment=none for no jitter")
        self.gains = Gains(stops)

    def __call__(self, image: Tensor, generator: torch.Generator) -> Tensor:
        """`(3, H, W)` uint8 -> `(3, H, W)` float32 in [0, 1]."""
        return self.gains(to_float(image), generator)

    def __repr__(self) -> str:
        return f"GainJitter({self.gains})"
