"""Planckian jitter: the image as another daylight would show it."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.augment import AUGMENTATIONS
from t3cen.augment.images import to_float
from t3cen.augment.randomness import global_rng_from

MODES = ("blackbody", "CIED")


@AUGMENTATIONS.register
class PlanckianJitter:
    """Red and blue scaled by a random illuminant along the Planckian locus, green kept; kornia's implementation.

    Args:
        mode: `"blackbody"` (radiators of 3,000 to 15,000 K) or `"CIED"` (the CIE's daylight series).
        p: probability that an image is changed (published: 0.8).

    Raises:
        ValueError: an unknown mode, or a probability outside [0, 1].

    Source: Zini et al., "Planckian jitter", 2022 (arXiv 2202.07993).
    """

    def __init__(self, mode: str = "blackbody", p: float = 0.8) -> None:
        from kornia.augmentation import RandomPlanckianJitter  # seconds to import, and only this row needs it

        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        if not 0 <= p <= 1:
            raise ValueError(f"p must lie in [0, 1], got {p}")
        self.transform = RandomPlanckianJitter(mode=mode, p=p, keepdim=True)

    def __call__(self, image: Tensor, generator: torch.Generator) -> Tensor:
        """`(3, H, W)` uint8 -> `(3, H, W)` float32 in [0, 1]."""
        image = to_float(image)
        with global_rng_from(generator):
            return self.transform(image).clamp(0, 1)

    def __repr__(self) -> str:
        return repr(self.transform)
