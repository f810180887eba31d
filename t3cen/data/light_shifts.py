"""Test sets under other light: the unshifted test pictures with gains, exposures, illuminants, through a camera.

Pictures are taken to hold sRGB and decoded; light is changed where it is linear; what comes out is encoded again.
Only the camera rounds to 8 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.color.planckian import planckian_gains
from t3cen.color.srgb import linear_to_srgb, srgb_to_linear
from t3cen.data.items import Change
from t3cen.data.randomness import uniform

KELVIN = (2500.0, 10000.0)
DARKENED = (0.5, 1.0, 2.0, 3.0)  # stops


def relight(rgb: Tensor, gains: Tensor | float) -> Tensor:
    """`(..., 3, H, W)` sRGB in [0, 1] under another light: linear light times `gains`, cut off at white.

    Args:
        gains: a number, or a tensor that broadcasts against the image, such as `(3, 1, 1)`.
    """
    return linear_to_srgb((srgb_to_linear(rgb) * gains).clamp(max=1))


@dataclass(frozen=True)
class Gains:
    """Red, green and blue darkened by gains of their own, each uniform in [0, `stops`] for each image."""

    stops: float

    def __call__(self, image: Tensor, rng: torch.Generator) -> Tensor:
        return relight(image, torch.exp2(-self.stops * torch.rand(3, 1, 1, generator=rng)))


@dataclass(frozen=True)
class Exposure:
    """One gain for all channels, uniform in stops between `low` and `high` for each image; cut off at white."""

    low: float
    high: float

    def __call__(self, image: Tensor, rng: torch.Generator) -> Tensor:
        return relight(image, 2 ** uniform(rng, self.low, self.high))


@dataclass(frozen=True)
class Planckian:
    """A radiator of a temperature uniform in `kelvin` for each image; its brightest channel is kept."""

    kelvin: tuple[float, float] = KELVIN

    def __call__(self, image: Tensor, rng: torch.Generator) -> Tensor:
        return relight(image, planckian_gains(uniform(rng, *self.kelvin))[:, None, None])


@dataclass(frozen=True)
class Camera:
    """A camera without white balance: a radiator, an exposure, crosstalk of its sensors, noise, a power, 8 bits.

    Attributes:
        kelvin: range of the illuminant's temperature.
        stops: range of the exposure.
        crosstalk: largest share of each other channel that a sensor sees; its rows add up to 1.
        full_well: electrons at white, whose number scatters as their square root.
        read_noise: standard deviation, as a share of white.
        gamma: range of the power that stored values are the root of.
    """

    kelvin: tuple[float, float] = KELVIN
    stops: tuple[float, float] = (-2.0, 1.0)
    crosstalk: float = 0.15
    full_well: float = 5000.0
    read_noise: float = 0.002
    gamma: tuple[float, float] = (1.8, 2.6)

    def __call__(self, image: Tensor, rng: torch.Generator) -> Tensor:
        gains = planckian_gains(uniform(rng, *self.kelvin)) * 2 ** uniform(rng, *self.stops)
        mixing = self.crosstalk * torch.rand(3, 3, generator=rng)
        mixing = mixing - torch.diag(mixing.sum(1) - 1)
        light = torch.einsum("ij,jhw->ihw", mixing, srgb_to_linear(image) * gains[:, None, None]).clamp(0, 1)
        scatter = (light / self.full_well + self.read_noise**2).sqrt()
        seen = (light + scatter * torch.randn(light.shape, generator=rng)).clamp(0, 1)
        return (seen ** (1 / uniform(rng, *self.gamma)) * 255).round() / 255


def light_shifts() -> dict[str, Change]:
    """Changes of light by name, for `ColorData.add_tests`. Not in the paper; docs/light.md."""
    changes: dict[str, Change] = {f"gains_{stops:g}": Gains(stops) for stops in DARKENED}
    return {
        **changes,
        "exposure_down_2": Exposure(-2, 0),
        "exposure_2": Exposure(-2, 2),
        "planckian": Planckian(),
        "camera": Camera(),
    }
