"""Colour jitter: random brightness, contrast, saturation and hue, each a switch."""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision import transforms

from t3cen.augment import AUGMENTATIONS
from t3cen.augment.images import to_float
from t3cen.augment.randomness import global_rng_from


@AUGMENTATIONS.register
class ColorJitter:
    """torchvision's colour jitter, on float images, so that nothing is rounded to 8 bits in between.

    Args:
        brightness, contrast, saturation: factor drawn from [max(0, 1 - x), 1 + x]; 0 leaves it alone.
        hue: shift drawn from [-hue, hue] turns, at most 0.5; 0 leaves it alone.

    Raises:
        ValueError: a number out of its range, or all of them 0.

    Source: paper, "ResNet-Jitter", without strengths. CEConv's jitter is `hue` alone; LCER's is `hue=0.25`.
    """

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        strengths = {"brightness": brightness, "contrast": contrast, "saturation": saturation, "hue": hue}
        for name, strength in strengths.items():
            if not 0 <= strength <= (0.5 if name == "hue" else float("inf")):
                raise ValueError(f"{name} must lie in [0, {0.5 if name == 'hue' else 'inf'}], got {strength}")
        if not any(strengths.values()):
            raise ValueError("a colour jitter with every strength at 0 does nothing; use augment=none instead")
        self.transform = transforms.ColorJitter(**strengths)

    def __call__(self, image: Tensor, generator: torch.Generator) -> Tensor:
        """`(3, H, W)` uint8 -> `(3, H, W)` float32 in [0, 1]."""
        image = to_float(image)
        with global_rng_from(generator):
            return self.transform(image).clamp(0, 1)

    def __repr__(self) -> str:
        return repr(self.transform)
