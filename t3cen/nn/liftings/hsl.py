"""Lifting to the hue-saturation-luminance group (or, as an ablation, hue-saturation-value)."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.color import get_color_space
from t3cen.color.hexcone import hue_fall
from t3cen.covers import get_cover
from t3cen.groups import ColorGroup
from t3cen.nn.liftings.base import ColorLifting, off_branch, orbit


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
        # The names are kept, and looked up in use: a name can be pickled, compared and printed.
        self.cover, self.color_space = get_cover(cover).name, get_color_space(color_space).name

    def _encode(self, rgb: Tensor) -> Tensor:
        hue, saturation, luminance = get_color_space(self.color_space).from_rgb(rgb).unbind(1)
        lift = get_cover(self.cover).lift
        return torch.stack([hue, lift(saturation), lift(luminance)], 1)

    def decode(self, angles: Tensor) -> Tensor:
        hue, saturation, luminance = angles.unbind(1)
        project = get_cover(self.cover).project
        return get_color_space(self.color_space).to_rgb(torch.stack([hue, project(saturation), project(luminance)], 1))

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 3, H, W)` angles -> `(B, G, 3, H, W)`.

        Hue enters a colour only through `hue_fall`, saturation and luminance only through the largest channel and the chroma,
        `rgb = maximum - chroma * fall`: N maps of the one, M*R of the other, and one broadcast product make all N*M*R images.
        """
        max_chroma = get_color_space(self.color_space).max_chroma
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
