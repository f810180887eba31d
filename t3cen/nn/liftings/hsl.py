"""Lifting to the hue-saturation-luminance group (or, as an ablation, hue-saturation-value)."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.color import get_color_space
from t3cen.color.hexcone import hue_fall
from t3cen.covers import Cover, get_covers
from t3cen.groups import ColorGroup
from t3cen.nn.liftings.base import ColorLifting, off_branch, orbit


class HSLLifting(ColorLifting):
    """Image -> function on the colour group: hue turned, saturation and luminance moved along their double covers.

    Angles are `(B, 3, H, W)`: hue, and the cover's angles of saturation and luminance, in turns.

    Args:
        group: orders of hue, saturation and luminance.
        cover: `"triangle"`, `"sine"` or `"half_sine"`, for saturation and luminance; or one for each, as the paper prints
            them: `"sine+half_sine"`.
        color_space: `"hsl"`, or `"hsv"`, whose value takes the place of luminance.

    Raises:
        ValueError: unknown cover or colour space.

    Source: paper, "Lifting layer" and "HSL group and group action"; appendix A.1.
    """

    def __init__(self, group: ColorGroup, cover: str = "triangle", color_space: str = "hsl") -> None:
        super().__init__(group)
        # The names are kept, and looked up in use: a name can be pickled, compared and printed.
        get_covers(cover)
        self.cover, self.color_space = cover, get_color_space(color_space).name

    @property
    def covers(self) -> tuple[Cover, Cover]:
        """The covers of saturation and of luminance."""
        return get_covers(self.cover)

    def _encode(self, rgb: Tensor) -> Tensor:
        hue, saturation, luminance = get_color_space(self.color_space).from_rgb(rgb).unbind(1)
        of_saturation, of_luminance = self.covers
        return torch.stack([hue, of_saturation.lift(saturation), of_luminance.lift(luminance)], 1)

    def decode(self, angles: Tensor) -> Tensor:
        hue, saturation, luminance = angles.unbind(1)
        of_saturation, of_luminance = self.covers
        values = [hue, of_saturation.project(saturation), of_luminance.project(luminance)]
        return get_color_space(self.color_space).to_rgb(torch.stack(values, 1))

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 3, H, W)` angles -> `(B, G, 3, H, W)`.

        Hue enters a colour only through `hue_fall`, saturation and luminance only through the largest channel and the chroma,
        `rgb = maximum - chroma * fall`: N maps of the one, M*R of the other, and one broadcast product make all N*M*R images.
        """
        max_chroma = get_color_space(self.color_space).max_chroma
        of_saturation, of_luminance = self.covers
        hue, saturation, luminance = map(orbit, angles.unbind(1), self.group.orders)
        values = of_saturation.project(saturation)[:, :, None], of_luminance.project(luminance)[:, None]
        largest, chroma = max_chroma(*values)  # (B, M, R, H, W)
        fall = hue_fall(hue)[:, :, None, None]  # (B, N, 1, 1, 3, H, W)
        lifted = torch.addcmul(largest[:, None, :, :, None], chroma[:, None, :, :, None], fall, value=-1)
        return lifted.flatten(1, 3)

    def off_sheet(self, angles: Tensor) -> Tensor:
        saturation, luminance = map(off_branch, angles[:, 1:].unbind(1), self.covers)
        return saturation | luminance

    def undefined_hue(self, angles: Tensor) -> Tensor:
        rgb = self.decode(angles)
        return rgb.amax(1) - rgb.amin(1) <= 4 * torch.finfo(rgb.dtype).eps

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, cover={self.cover}, color_space={self.color_space}"
