"""The liftings of networks whose images are white-balanced first: classical colour constancy, without a group."""

from __future__ import annotations

from torch import Tensor

from t3cen.color.srgb import linear_to_srgb, srgb_to_linear
from t3cen.nn.liftings.plain import IdentityLifting

MIDDLE_GREY = 0.18  # of linear light, the photographer's grey card
BLACK = 2.0**-16  # of linear light; less counts as this much, so that a black channel stays black


def balanced(light: Tensor, seen: Tensor, wanted: float) -> Tensor:
    """sRGB of linear light after the gains that make `wanted` of `seen`, cut off at white."""
    return linear_to_srgb((light * wanted / seen.clamp(min=BLACK)).clamp(max=1)).clamp(max=1)


class GrayWorldLifting(IdentityLifting):
    """`(B, 3, H, W)` sRGB -> `(B, 1, 3, H, W)`: each channel's mean over the image made middle grey, in linear light.

    So a gain of any channel that cuts nothing off at white changes nothing.

    Source: Buchsbaum, "A spatial processor model for object colour perception", 1980. Not in the paper; docs/light.md.
    """

    def _encode(self, rgb: Tensor) -> Tensor:
        light = srgb_to_linear(rgb)
        return balanced(light, light.mean((2, 3), keepdim=True), MIDDLE_GREY)


class WhitePatchLifting(IdentityLifting):
    """`(B, 3, H, W)` sRGB -> `(B, 1, 3, H, W)`: each channel's brightest pixel made white, in linear light.

    So a gain of any channel that cuts nothing off at white changes nothing.

    Source: Land and McCann, "Lightness and retinex theory", 1971. Not in the paper; docs/light.md.
    """

    def _encode(self, rgb: Tensor) -> Tensor:
        light = srgb_to_linear(rgb)
        return balanced(light, light.amax((2, 3), keepdim=True), 1.0)
