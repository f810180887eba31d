"""AugMix: mixtures of short random chains of image operations, seen beside the clean image."""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision import transforms

from t3cen.augment import AUGMENTATIONS
from t3cen.augment.images import check_uint8, to_float
from t3cen.augment.randomness import global_rng_from


@AUGMENTATIONS.register
class AugMix:
    """The clean image and two mixed views of it, for `t3cen.loss.jensen_shannon`; torchvision makes the mixtures.

    Args:
        severity: of the operations, 1 to 10 (published for CIFAR: 3).
        mixture_width: number of chains mixed.
        chain_depth: operations in a chain; -1 draws 1 to 3.
        alpha: of the Dirichlet and Beta distributions of the mixing weights.
        all_ops: whether brightness, contrast, colour and sharpness are among the operations. The publication leaves
            them out, because they overlap with its test corruptions, as they do with our colour shifts.

    Raises:
        ValueError: a number out of its range.

    Attributes:
        views: how many images come out of one.

    Source: Hendrycks et al., "AugMix", 2020 (arXiv 1912.02781).
    """

    views = 3

    def __init__(
        self, severity: int = 3, mixture_width: int = 3, chain_depth: int = -1, alpha: float = 1.0, all_ops: bool = False
    ) -> None:
        if not 1 <= severity <= 10:
            raise ValueError(f"severity must lie in [1, 10], got {severity}")
        if mixture_width < 1:
            raise ValueError(f"mixture_width must be at least 1, got {mixture_width}")
        if chain_depth != -1 and chain_depth < 1:
            raise ValueError(f"chain_depth must be at least 1, or -1 for a random one, got {chain_depth}")
        if alpha <= 0:
            raise ValueError(f"alpha must be positive, got {alpha}")
        self.transform = transforms.AugMix(severity, mixture_width, chain_depth, alpha, all_ops)

    def __call__(self, image: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """`(3, H, W)` uint8 -> clean and two mixed views, each `(3, H, W)` float32 in [0, 1]."""
        check_uint8(image)
        with global_rng_from(generator):
            first, second = self.transform(image), self.transform(image)
        return to_float(image), to_float(first), to_float(second)

    def __repr__(self) -> str:
        return repr(self.transform)
