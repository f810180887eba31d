"""Every colour shift of the paper's tests, and what "shifted by" means; used by all data sets and figures.

Conventions, the same everywhere:

* Shifts are made in HSL on RGB images in [0, 1]; hue in turns and modulo 1; a positive amount raises the value.
* One amount for a whole image, unless a function says otherwise.
* "Reduced by 0.5" (paper, Table "Generalization to color shift") does not say what happens at the ends of the range. `mode`:
    - `clip` (default): `v + amount`, cut off at 0 and 1. The reading of a reader; much of a dark image becomes black.
    - `fold`: turned back at 0 and 1, along the (triangle) double cover; the group's own action, nothing is lost.
    - `scale`: `v * (1 + amount)`, cut off at 1.
* Pixels whose hue or saturation is undefined keep hue 0 and saturation 0 before the shift: raising the saturation of a grey
  pixel makes it red, as in every HSL program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.color import hsl_to_rgb, rgb_to_hsl
from t3cen.covers import get_cover, get_covers
from t3cen.data.randomness import integer, uniform
from t3cen.groups import ColorGroup

MODES = ("clip", "fold", "scale")
Amount = float | Tensor


def shift_value(value: Tensor, amount: Amount, mode: str = "clip") -> Tensor:
    """Shift a saturation or luminance in [0, 1] by `amount`.

    Args:
        value: any shape, in [0, 1].
        amount: in [-1, 1], a number or a tensor that broadcasts against `value`.
        mode: `clip`, `fold` or `scale`, see the module.

    Returns:
        the shifted value, in [0, 1].

    Raises:
        ValueError: `mode` is none of these.
    """
    if mode == "clip":
        return (value + amount).clamp(0, 1)
    if mode == "fold":
        triangle = get_cover("triangle")
        return triangle.project(triangle.lift(value) + amount / 2)
    if mode == "scale":
        return (value * (1 + amount)).clamp(0, 1)
    raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")


def shift(rgb: Tensor, hue: Amount = 0.0, saturation: Amount = 0.0, luminance: Amount = 0.0, mode: str = "clip") -> Tensor:
    """Shift the hue, saturation and luminance of images.

    Args:
        rgb: `(..., 3, H, W)`, RGB in [0, 1].
        hue: in turns; saturation, luminance: in [-1, 1]. Numbers, or tensors that broadcast against `(..., H, W)`: one per
            image is `(B, 1, 1)`, one per pixel `(H, W)`.
        mode: at the ends of saturation and luminance: `clip`, `fold` or `scale`.

    Returns:
        `(..., 3, H, W)`, RGB in [0, 1].
    """
    h, s, l = rgb_to_hsl(rgb).unbind(-3)  # noqa: E741
    return hsl_to_rgb(torch.stack([h + hue, shift_value(s, saturation, mode), shift_value(l, luminance, mode)], -3))


@dataclass(frozen=True)
class Fixed:
    """The same shift for every image: `Fixed(saturation=-0.5)` is the paper's saturation-shifted test set."""

    hue: float = 0.0
    saturation: float = 0.0
    luminance: float = 0.0
    mode: str = "clip"

    def __call__(self, image: Tensor, rng: torch.Generator) -> Tensor:
        return shift(image, self.hue, self.saturation, self.luminance, self.mode)


@dataclass(frozen=True)
class Uniform:
    """One shift per image, uniform between `(low, high)` in each coordinate."""

    hue: tuple[float, float] = (0.0, 0.0)
    saturation: tuple[float, float] = (0.0, 0.0)
    luminance: tuple[float, float] = (0.0, 0.0)
    mode: str = "clip"

    def __call__(self, image: Tensor, rng: torch.Generator) -> Tensor:
        hue, saturation, luminance = (uniform(rng, *bounds) for bounds in (self.hue, self.saturation, self.luminance))
        return shift(image, hue, saturation, luminance, self.mode)


@dataclass(frozen=True)
class Multiples:
    """One shift per image, a whole multiple of a step in each coordinate.

    Attributes:
        hue, saturation, luminance: `(step, lowest multiple, highest multiple)`, both ends included.
    """

    hue: tuple[float, int, int] = (0.0, 0, 0)
    saturation: tuple[float, int, int] = (0.0, 0, 0)
    luminance: tuple[float, int, int] = (0.0, 0, 0)
    mode: str = "clip"

    def __call__(self, image: Tensor, rng: torch.Generator) -> Tensor:
        axes = (self.hue, self.saturation, self.luminance)
        hue, saturation, luminance = (step * integer(rng, low, high + 1) for step, low, high in axes)
        return shift(image, hue, saturation, luminance, self.mode)


def step_jitter(rgb: Tensor, group: ColorGroup, cover: str, generator: torch.Generator) -> Tensor:
    """Shift training images by up to half a step of the group, so that shifts between the steps are seen too.

    Every image gets its own uniform shift in each coordinate whose order exceeds 1: within +-1/(2N) turns of hue, or of
    the saturation's and luminance's double cover (a shift of the value within +-1/N under the triangle cover, folded at the
    ends). The *image* is shifted, before it is lifted; coordinates of order 1 are left alone.

    Args:
        rgb: `(B, 3, H, W)`, RGB in [0, 1].
        group: the orders of hue, saturation and luminance.
        cover: the name of the network's cover, or covers.
        generator: on any device.

    Returns:
        `(B, 3, H, W)`, RGB in [0, 1]. Not in the paper; our ablation.
    """
    if group.order == 1:
        return rgb
    turns = _half_steps(rgb, generator)
    coordinates = list(rgb_to_hsl(rgb).unbind(-3))
    if group.orders[0] > 1:
        coordinates[0] = coordinates[0] + turns[0] / group.orders[0]
    for axis, of_axis in enumerate(get_covers(cover), start=1):
        if group.orders[axis] > 1:
            coordinates[axis] = of_axis.project(of_axis.lift(coordinates[axis]) + turns[axis] / group.orders[axis])
    return hsl_to_rgb(torch.stack(coordinates, -3))


def line_step_jitter(rgb: Tensor, steps: Sequence[float], generator: torch.Generator) -> Tensor:
    """`step_jitter` for LCER, whose steps go along the values themselves and are cut off at 0 and 1.

    Args:
        rgb: `(B, 3, H, W)`, RGB in [0, 1].
        steps: one step of hue, in turns, of saturation and of luminance; 0 leaves a coordinate alone.
        generator: on any device.

    Returns:
        `(B, 3, H, W)`, RGB in [0, 1]. Not in the paper.
    """
    hue, saturation, luminance = (turns * step for turns, step in zip(_half_steps(rgb, generator), steps, strict=True))
    return shift(rgb, hue, saturation, luminance)


def _half_steps(rgb: Tensor, generator: torch.Generator) -> Tensor:
    """`(3, B, 1, 1)`, uniform in [-0.5, 0.5): for each image how far it moves along each coordinate, in steps."""
    drawn = torch.rand(3, len(rgb), 1, 1, generator=generator, device=generator.device, dtype=torch.float32)
    return drawn.to(rgb.device) - 0.5
