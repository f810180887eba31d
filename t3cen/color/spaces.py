"""The colour spaces a lifting can work in, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from t3cen.color.hsl import hsl_max_chroma, hsl_to_rgb, rgb_to_hsl
from t3cen.color.hsv import hsv_max_chroma, hsv_to_rgb, rgb_to_hsv


@dataclass(frozen=True)
class ColorSpace:
    """Hue and two values.

    Attributes:
        from_rgb: `(..., 3, H, W)` RGB -> hue in turns, and two values in [0, 1].
        to_rgb: its inverse.
        max_chroma: the two values -> largest RGB channel and chroma; `hue_fall` makes the colour from these and hue.
    """

    name: str
    from_rgb: Callable[[Tensor], Tensor]
    to_rgb: Callable[[Tensor], Tensor]
    max_chroma: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


COLOR_SPACES: dict[str, ColorSpace] = {
    space.name: space
    for space in (
        ColorSpace("hsl", rgb_to_hsl, hsl_to_rgb, hsl_max_chroma),
        ColorSpace("hsv", rgb_to_hsv, hsv_to_rgb, hsv_max_chroma),
    )
}


def get_color_space(name: str) -> ColorSpace:
    """The colour space called `name`: `"hsl"` or `"hsv"`.

    Raises:
        ValueError: there is no such colour space.
    """
    if name not in COLOR_SPACES:
        raise ValueError(f"unknown colour space {name!r}; choose from {', '.join(COLOR_SPACES)}")
    return COLOR_SPACES[name]
