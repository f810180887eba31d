"""Lifting to the hue-saturation-luminance group (or, as an ablation, hue-saturation-value)."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.color import hsl_to_rgb, hsv_to_rgb, rgb_to_hsl, rgb_to_hsv
from t3cen.color.hexcone import hue_fall
from t3cen.color.hsl import hsl_max_chroma
from t3cen.color.hsv import hsv_max_chroma
from t3cen.covers import get_cover
from t3cen.groups import ColorGroup
from t3cen.nn.lifting import ColorLifting, off_branch, orbit

# to the space, back from it, and (saturation, luminance) -> (largest channel, chroma)
_SPACES = {"hsl": (rgb_to_hsl, hsl_to_rgb, hsl_max_chroma), "hsv": (rgb_to_hsv, hsv_to_rgb, hsv_max_chroma)}


class HSLLifting(ColorLifting):
    """Image -> function on the colour group: hue turned, saturation and luminance moved along their double covers.

    Angles are `(B, 3, H, W)`: hue, and the cover's angles of saturation and luminance, in turns.

    Args:
        group: orders of hue, saturation and luminance.
        cover: `"triangle"`, `"sine"` or `"half_sine"`, for saturation and luminance.
        color_space: `"hsl"`, or `"hsv"`, whose value takes the place of luminance.

    Raises:
        ValueError: unknown cover or colour space.

    Source: paper, "Lifting layer" and "HSL group and group action"; appendix A.1.
    """

    def __init__(self, group: ColorGroup, cover: str = "triangle", color_space: str = "hsl") -> None:
        super().__init__(group)
        if color_space not in _SPACES:
            raise ValueError(f"unknown colour space {color_space!r}; choose from {', '.join(_SPACES)}")
        get_cover(cover)
        self.cover, self.color_space = cover, color_space

    def _encode(self, rgb: Tensor) -> Tensor:
        to_space, _, _ = _SPACES[self.color_space]
        hue, saturation, luminance = to_space(rgb).unbind(1)
        lift = get_cover(self.cover).lift
        return torch.stack([hue, lift(saturation), lift(luminance)], 1)

    def decode(self, angles: Tensor) -> Tensor:
        _, to_rgb, _ = _SPACES[self.color_space]
        hue, saturation, luminance = angles.unbind(1)
        project = get_cover(self.cover).project
        return to_rgb(torch.stack([hue, project(saturation), project(luminance)], 1))

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 3, H, W)` angles -> `(B, G, 3, H, W)`.

        Hue enters a colour only through `hue_fall`, saturation and luminance only through the largest channel and the chroma,
        `rgb = maximum - chroma * fall`: N maps of the one, M*R of the other, and one broadcast product make all N*M*R images.
        """
        _, _, max_chroma = _SPACES[self.color_space]
        project = get_cover(self.cover).project
        hue, saturation, luminance = (
            orbit(angle, order) for angle, order in zip(angles.unbind(1), self.group.orders, strict=True)
        )
        largest, chroma = max_chroma(project(saturation)[:, :, None], project(luminance)[:, None])  # (B, M, R, H, W)
        fall = hue_fall(hue)[:, :, None, None]  # (B, N, 1, 1, 3, H, W)
        lifted = torch.addcmul(largest[:, None, :, :, None], chroma[:, None, :, :, None], fall, value=-1)
        return lifted.flatten(1, 3)

    def off_sheet(self, angles: Tensor) -> Tensor:
        return off_branch(angles[:, 1:], get_cover(self.cover)).any(1)

    def undefined_hue(self, angles: Tensor) -> Tensor:
        rgb = self.decode(angles)
        return rgb.amax(1) - rgb.amin(1) <= 4 * torch.finfo(rgb.dtype).eps

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, cover={self.cover}, color_space={self.color_space}"
