"""How far light has moved between two sets of images, and how much of it gains of red, green and blue explain."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.color.srgb import srgb_to_linear

STOPS = 8.0
WHITE = 254.5 / 255  # stored value from which a channel counts as cut off
LEAST = 0.25  # stops
PARTS = 20


@dataclass(frozen=True)
class LightMove:
    """A change of light, in stops.

    Attributes:
        gains: of red, green and blue, that bring the two distributions nearest.
        distance: earth mover's distance of the logarithms of a channel, mean over the three.
        noise: the same between random halves of the training images.
        explained: share of the distance in [0, 1] that the gains take away.
    """

    gains: tuple[float, float, float]
    distance: float
    noise: float
    explained: float

    @property
    def exposure(self) -> float:
        """Mean of the three gains."""
        return sum(self.gains) / 3

    def stands_out(self) -> bool:
        """Whether light moves by a quarter of a stop and three times the noise at least, half of it by gains."""
        return self.distance >= LEAST and self.distance > 3 * self.noise and self.explained >= 0.5

    def __str__(self) -> str:
        red, green, blue = self.gains
        return (
            f"{self.exposure:+.2f} stops of exposure, {red - green:+.2f} of red over green, {blue - green:+.2f} of blue "
            f"over green; such gains explain {self.explained:.0%} of the move"
        )


def light_move(train: Tensor, deployment: Tensor, seed: int = 0) -> LightMove | None:
    """Compare the logarithms of linear light; channels at the floor of 8 stops and at white are left out.

    Args:
        train, deployment: `(N, 3, 1, K)` and `(M, 3, 1, K)`, sRGB in [0, 1], as `sample_pixels` draws them.
        seed: of the halving that the noise is measured on.

    Returns:
        the move, or None where a channel has fewer than 100 values in either set that are neither black nor white.
    """
    half = torch.randperm(len(train), generator=torch.Generator().manual_seed(seed))
    seen, used = _quantiles(train), _quantiles(deployment)
    halves = [_quantiles(train[part]) for part in (half[: len(half) // 2], half[len(half) // 2 :])]
    if seen is None or used is None or halves[0] is None or halves[1] is None:
        return None
    difference = used - seen  # (3, PARTS)
    gains = difference.median(1).values
    distance = difference.abs().mean().item()
    left = (difference - gains[:, None]).abs().mean().item()
    red, green, blue = gains.tolist()
    noise = (halves[0] - halves[1]).abs().mean().item()
    return LightMove((red, green, blue), distance, noise, 1 - left / distance if distance else 0.0)


def _quantiles(pixels: Tensor) -> Tensor | None:
    """`(3, PARTS)`: evenly spaced quantiles of each channel, in stops below white."""
    places = (torch.arange(PARTS, dtype=torch.float64) + 0.5) / PARTS
    found = []
    for channel in pixels.double().unbind(1):
        stored = channel[channel < WHITE]
        stops = torch.log2(srgb_to_linear(stored).clamp(min=2 ** (-2 * STOPS)))
        values = stops[stops > -STOPS].sort().values
        if len(values) < 100:
            return None
        found.append(values[(places * len(values)).long()])
    return torch.stack(found)
