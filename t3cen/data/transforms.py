"""Crops and flips, random in training and fixed in tests; uint8 `(3, H, W)` in and out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.data.randomness import integer, uniform


def _mirror(picture: Tensor, rng: torch.Generator) -> Tensor:
    return picture.flip(-1) if integer(rng, 0, 2) else picture


@dataclass(frozen=True)
class Flip:
    """Left and right exchanged, every other time."""

    def __call__(self, picture: Tensor, rng: torch.Generator) -> Tensor:
        return _mirror(picture, rng)


@dataclass(frozen=True)
class PadCropFlip:
    """A crop of the picture's own size after black padding, and a flip: `RandomCrop(size, padding)`."""

    padding: int = 4

    def __call__(self, picture: Tensor, rng: torch.Generator) -> Tensor:
        height, width = picture.shape[-2:]
        padded = torch.nn.functional.pad(picture, [self.padding] * 4)
        top, left = integer(rng, 0, 2 * self.padding + 1), integer(rng, 0, 2 * self.padding + 1)
        return _mirror(padded[:, top : top + height, left : left + width], rng)


@dataclass(frozen=True)
class ResizedCropFlip:
    """A random part of the picture, scaled to `size`, and a flip: `RandomResizedCrop`, with its defaults.

    Attributes:
        size: height and width of the result.
        area: smallest and largest share of the picture's area.
        ratio: smallest and largest width / height.
    """

    size: int
    area: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)

    def __call__(self, picture: Tensor, rng: torch.Generator) -> Tensor:
        top, left, height, width = self._place(picture.shape[-2], picture.shape[-1], rng)
        return _mirror(resize(picture[:, top : top + height, left : left + width], self.size, self.size), rng)

    def _place(self, height: int, width: int, rng: torch.Generator) -> tuple[int, int, int, int]:
        for _ in range(10):
            area = height * width * uniform(rng, *self.area)
            ratio = math.exp(uniform(rng, math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return integer(rng, 0, height - h + 1), integer(rng, 0, width - w + 1), h, w
        # no such part was found in a very long or tall picture: its middle, as near to the allowed shapes as it can be
        w = min(width, round(height * self.ratio[1]))
        h = min(height, round(width / self.ratio[0]))
        return (height - h) // 2, (width - w) // 2, h, w


@dataclass(frozen=True)
class ResizeCenter:
    """The shorter side scaled to `shorter`, then the middle `size` x `size`: the test transform of the 224-pixel recipe."""

    shorter: int
    size: int

    def __call__(self, picture: Tensor) -> Tensor:
        height, width = picture.shape[-2:]
        scale = self.shorter / min(height, width)
        scaled = resize(picture, max(self.shorter, round(height * scale)), max(self.shorter, round(width * scale)))
        top, left = (scaled.shape[-2] - self.size) // 2, (scaled.shape[-1] - self.size) // 2
        return scaled[:, top : top + self.size, left : left + self.size]


@dataclass(frozen=True)
class Resize:
    """The whole picture scaled to `size` x `size`."""

    size: int

    def __call__(self, picture: Tensor) -> Tensor:
        return resize(picture, self.size, self.size)


def resize(picture: Tensor, height: int, width: int) -> Tensor:
    """Bilinear with antialiasing, uint8 in and out."""
    if tuple(picture.shape[-2:]) == (height, width):
        return picture
    scaled = torch.nn.functional.interpolate(picture[None], (height, width), mode="bilinear", antialias=True, align_corners=False)
    return scaled[0]
