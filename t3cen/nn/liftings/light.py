"""Lifting to the groups of light: logarithms of the channels, which white balance and exposure shift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

import torch
from torch import Tensor

from t3cen.color.srgb import linear_to_srgb, srgb_to_linear
from t3cen.covers import get_cover
from t3cen.groups import LightGroup, RGBGroup
from t3cen.nn.liftings.base import off_sheet_rounding
from t3cen.nn.liftings.rgb import RGBLifting
from t3cen.turns import circle_distance


class LightLifting(RGBLifting):
    """Image -> function on a group of light, each value the logarithm of an intensity along its double cover.

    The value of a channel is `1 + log2(channel) / stops`: 0 at the floor `2^-stops` and below it, 1 at white. A gain
    adds to it, the same for every pixel. The group says which values are lifted:

    * `RGBGroup(red, green, blue)`: those of the three channels. Any white balance and exposure is an element.
    * `LightGroup(exposure, red_green, blue_green)`: their mean, and half of one more than the differences red - green
      and blue - green. Exposure moves the first alone, a change of the illuminant that keeps the mean the other two.

    `lift` shows the *values*, not images: they are linear in the angle but for two kinks, so few frequencies hold
    them. Angles are `(B, 3, H, W)`, those of the three values, in turns; `decode` makes images of them, cut off at white
    and floor.

    Args:
        group: one of the two; an order of 1 leaves an axis out, and its value is shown as it is.
        cover: `"triangle"`, under which alone a gain turns every pixel by the same angle.
        stops: range of the logarithm, a finite number > 0; 8 keeps what 8-bit sRGB resolves to an eighth of a stop.
        srgb: whether images hold sRGB, decoded to linear light first. False takes stored values as they are; where they
            are a power of the light, a gain of s stops is one of `s / gamma` stops.

    Raises:
        ValueError: another group or cover, `stops` out of range, `srgb` that is no bool.

    Not in the paper; docs/light.md.
    """

    def __init__(self, group: RGBGroup | LightGroup, cover: str = "triangle", stops: float = 8.0, srgb: bool = True) -> None:
        if not isinstance(group, RGBGroup | LightGroup):
            raise ValueError(f"{type(self).__name__} needs an RGBGroup or a LightGroup, got {group!r}")
        if cover != "triangle":
            raise ValueError(
                f"{type(self).__name__} needs the cover 'triangle', under which a gain turns every pixel alike, got {cover!r}"
            )
        if isinstance(stops, bool) or not isinstance(stops, Real) or not 0 < stops < math.inf:
            raise ValueError(f"stops must be a finite number > 0, got {stops!r}")
        if not isinstance(srgb, bool):
            raise ValueError(f"srgb must be true or false, got {srgb!r}")
        super().__init__(group, cover)
        self.stops: float = float(stops)
        self.srgb: bool = srgb

    def steps(self, gains: Sequence[float]) -> tuple[float, float, float]:
        """The element, in steps of the group, that acts as gains do.

        `encode` of the image under these gains is `act(encode(image), steps)` to rounding, where no pixel is cut off at
        floor or white.

        Args:
            gains: of red, green and blue, in stops; linear light where `srgb`, else of the stored values.

        Raises:
            ValueError: not three gains.
        """
        if len(gains) != 3:
            raise ValueError(f"{len(gains)} gains in {tuple(gains)}, 3 (red, green, blue) expected")
        red, green, blue = (gain / self.stops for gain in gains)
        moves = (red, green, blue)
        if isinstance(self.group, LightGroup):
            moves = ((red + green + blue) / 3, (red - green) / 2, (blue - green) / 2)
        first, second, third = (move / 2 * order for move, order in zip(moves, self.group.orders, strict=True))
        return first, second, third

    def _encode(self, rgb: Tensor) -> Tensor:
        light = srgb_to_linear(rgb) if self.srgb else rgb
        values = 1 + torch.log2(light.clamp(min=2**-self.stops)) / self.stops
        if isinstance(self.group, LightGroup):
            red, green, blue = values.unbind(1)
            values = torch.stack([values.mean(1), (1 + red - green) / 2, (1 + blue - green) / 2], 1)
        return get_cover(self.cover).lift(values)

    def decode(self, angles: Tensor) -> Tensor:
        values = get_cover(self.cover).project(angles)
        if isinstance(self.group, LightGroup):
            mean, red_green, blue_green = values.unbind(1)
            above, below = 2 * red_green - 1, 2 * blue_green - 1
            green = mean - (above + below) / 3
            values = torch.stack([green + above, green, green + below], 1)
        light = torch.exp2(self.stops * (values.clamp(0, 1) - 1))
        return linear_to_srgb(light).clamp(0, 1) if self.srgb else light

    def off_sheet(self, angles: Tensor) -> Tensor:
        """`(B, H, W)` booleans: pixels that an image cannot hold, on another sheet or cut off at floor or white."""
        returned = self._encode(self.decode(angles))
        return (circle_distance(angles, returned) > off_sheet_rounding(angles.dtype)).any(1)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, stops={self.stops:g}, srgb={self.srgb}"
