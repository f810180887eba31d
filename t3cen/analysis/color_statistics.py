"""Distributions of hue, saturation and luminance over a set of images, each value weighted by what it does to the picture."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from t3cen.color import rgb_to_hsl

AXES = ("hue", "saturation", "luminance")
BINS = 240  # divided by every order up to 6, and by 8, 10, 12, 15, 16


def sample_pixels(images: Iterable[Tensor], count: int = 1024, seed: int = 0) -> Tensor:
    """The same number of pixels of every image, drawn at random.

    Args:
        images: `(3, H, W)` each, of any sizes, RGB in [0, 1].
        count: pixels per image, with replacement where an image has fewer.
        seed: of the draw.

    Returns:
        `(N, 3, 1, count)`, a batch of images one pixel high.

    Raises:
        ValueError: no image, or one that is not RGB in [0, 1].
    """
    rng = torch.Generator().manual_seed(seed)
    drawn = []
    for image in images:
        if image.ndim != 3 or image.shape[0] != 3:
            raise ValueError(f"an RGB image (3, H, W) expected, got {tuple(image.shape)}")
        flat = image.flatten(1)
        drawn.append(flat[:, torch.randint(flat.shape[1], (count,), generator=rng)])
    if not drawn:
        raise ValueError("no images to look at")
    pixels = torch.stack(drawn).float()[:, :, None]
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        raise ValueError(f"RGB values must lie in [0, 1], got [{pixels.min():.6g}, {pixels.max():.6g}]")
    return pixels


@dataclass(frozen=True)
class ColorStatistics:
    """What the colours of a set of images are.

    Hue is weighted by chroma (saturation times the room its luminance leaves), because that is what hue adds to RGB: the hue
    of a grey pixel means nothing, that of a nearly black one is 8-bit noise. Saturation is weighted by that room, for the
    same reason. Luminance counts every pixel alike.

    Attributes:
        pixels: `(N, 3, 1, K)`, RGB in [0, 1], from `sample_pixels`.
    """

    pixels: Tensor = field(repr=False)

    @cached_property
    def hsl(self) -> Tensor:
        """`(N, 3, K)`: hue in turns, saturation and luminance in [0, 1]."""
        return rgb_to_hsl(self.pixels)[:, :, 0]

    @cached_property
    def weights(self) -> Tensor:
        """`(N, 3, K)`: how much each value counts."""
        _, saturation, luminance = self.hsl.unbind(1)
        room = 1 - (2 * luminance - 1).abs()
        return torch.stack([saturation * room, room, torch.ones_like(room)], 1)

    @cached_property
    def histograms(self) -> Tensor:
        """`(N, 3, BINS)`: for each image, the weight in each of the equal bins of hue, saturation and luminance."""
        bins = (self.hsl * BINS).long().clamp(0, BINS - 1)
        return torch.zeros(*bins.shape[:2], BINS, dtype=torch.float64).scatter_add_(2, bins, self.weights.double())

    def histogram(self, axis: str) -> Tensor:
        """`(BINS,)`: of all images together."""
        return self.histograms[:, AXES.index(axis)].sum(0)

    @property
    def chroma(self) -> float:
        """Mean chroma in [0, 1]; where it is about 0, hue is undefined and saturation means little."""
        return self.weights[:, 0].mean().item()

    @property
    def undefined_hue(self) -> float:
        """Share of pixels in [0, 1] that are grey, black or white to 8 bits."""
        return ((self.pixels.amax(1) - self.pixels.amin(1)) * 255 < 0.5).double().mean().item()

    @cached_property
    def image_means(self) -> Tensor:
        """`(N, 3)`: mean hue (circular, in turns), saturation and luminance of each image; 0 where nothing has weight."""
        hue, saturation, luminance = self.hsl.unbind(1)
        angle = 2 * math.pi * hue
        weight = self.weights[:, 0]
        turned = torch.atan2((weight * angle.sin()).sum(1), (weight * angle.cos()).sum(1)) / (2 * math.pi) % 1
        room = self.weights[:, 1]
        saturated = (room * saturation).sum(1) / room.sum(1).clamp(min=1e-9)
        return torch.stack([turned, saturated, luminance.mean(1)], 1)

    def summary(self) -> dict[str, dict[str, float]]:
        """Mean and spread of each axis: circular mean and resultant length for hue, mean and `sd` for the others."""
        result = {}
        for at, axis in enumerate(AXES):
            values, weights = self.hsl[:, at].double(), self.weights[:, at].double()
            total = weights.sum().clamp(min=1e-12)
            if axis == "hue":
                cosine, sine = ((weights * f(2 * math.pi * values)).sum() / total for f in (torch.cos, torch.sin))
                mean = torch.atan2(sine, cosine).div(2 * math.pi).item() % 1
                result[axis] = {"mean": mean, "resultant_length": torch.hypot(sine, cosine).item()}
            else:
                mean = ((weights * values).sum() / total).item()
                variance = (weights * (values - mean) ** 2).sum() / total
                result[axis] = {"mean": mean, "sd": variance.sqrt().item()}
        return result
