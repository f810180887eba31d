"""The lifting of LCER: hue on the circle, saturation or luminance moved along the line and clipped."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from t3cen.color import get_color_space
from t3cen.color.hexcone import hue_fall
from t3cen.groups import ColorGroup
from t3cen.nn.baselines.lcer_conv import check_lcer_group
from t3cen.nn.liftings.base import Lifting
from t3cen.nn.liftings.pillow_hsv import pil_to_rgb, rgb_to_pil
from t3cen.turns import wrap

MODES = ("float", "pil8")


class LCERLifting(Lifting):
    """Image -> function on LCER's group, for "Learning Color Equivariant Representations" (Yang et al., 2024).

    Hue turns by `i / N`. Saturation or luminance is moved by `(j - M // 2)` steps, symmetrically around the image itself
    (element `M // 2`), and clipped to [0, 1]; the outermost element is moved by `frac_space / 2`. So hue is exactly
    equivariant, and the other one only for pixels that are not clipped and elements that stay inside.

    Its "angles" are hue in turns and the two values in [0, 1]; `act` clips, so it is not a group action on them.

    Args:
        group: hue, and one of saturation and luminance with an odd order.
        cover: taken so that every lifting is built alike; LCER moves values themselves and has no cover.
        color_space: `"hsl"` or `"hsv"`; None is HSL, or HSV in `mode="pil8"`, which has no other.
        frac_space: share of the value's range the elements span, in (0, 1]. Published: 1 for Camelyon17 and smallNORB,
            0.2 elsewhere.
        mode: `"float"`; or `"pil8"`, the published loader's arithmetic on 8-bit HSV images: hue offsets `i * 256 // N`,
            value offsets `int((j - M // 2) / (M // 2) * 128 * frac_space)`. It passes no gradient to the image.

    Raises:
        ValueError: a group LCER does not support, or another argument out of its range.

    Source: arXiv 2406.09588; paper, eq. for the saturation action with `min(x_s + s_i, c)`.
    """

    group: ColorGroup

    def __init__(
        self,
        group: ColorGroup,
        cover: str | None = None,
        color_space: str | None = None,
        frac_space: float = 1.0,
        mode: str = "float",
    ) -> None:
        check_lcer_group(group)
        super().__init__(group)
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        color_space = get_color_space(color_space or ("hsv" if mode == "pil8" else "hsl")).name
        if mode == "pil8" and color_space != "hsv":
            raise ValueError(f"mode 'pil8' is 8-bit HSV, got color_space={color_space!r}; set color_space='hsv'")
        if not 0 < frac_space <= 1:
            raise ValueError(f"frac_space must lie in (0, 1], got {frac_space}")
        self.color_space, self.frac_space, self.mode = color_space, frac_space, mode

    def _encode(self, rgb: Tensor) -> Tensor:
        return rgb_to_pil(rgb) if self.mode == "pil8" else get_color_space(self.color_space).from_rgb(rgb)

    def act(self, angles: Tensor, element: Sequence[float]) -> Tensor:
        """Turn hue, and move saturation and luminance with clipping.

        Args:
            angles: `(B, 3, H, W)`, hue in turns, values in [0, 1].
            element: steps along each axis, of either sign; fractions allowed. Unlike a cyclic group's, steps of
                saturation and luminance are not taken modulo the order.
        """
        self.turns(element)  # checks the number of steps
        offsets = [self.offset(axis, steps) for axis, steps in enumerate(element)]
        moved = angles + torch.tensor(offsets, dtype=angles.dtype, device=angles.device)[:, None, None]
        hue, saturation, luminance = moved.unbind(1)
        return torch.stack([wrap(hue), saturation.clamp(0, 1), luminance.clamp(0, 1)], 1)

    def offset(self, axis: int, steps: float) -> float:
        """What `steps` steps add to hue (axis 0; in turns), or to saturation (1) or luminance (2)."""
        order = self.group.orders[axis]
        reach = order // 2
        if axis == 0:
            return math.floor(steps * 256 / order) / 256 if self.mode == "pil8" else steps / order
        if reach == 0:
            return 0.0
        share = steps / reach * self.frac_space
        return int(share * 128) / 255 if self.mode == "pil8" else share / 2

    def decode(self, angles: Tensor) -> Tensor:
        return pil_to_rgb(angles) if self.mode == "pil8" else get_color_space(self.color_space).to_rgb(angles)

    def undefined_hue(self, angles: Tensor) -> Tensor:
        rgb = self.decode(angles)
        return rgb.amax(1) - rgb.amin(1) <= 4 * torch.finfo(rgb.dtype).eps

    def lift(self, angles: Tensor) -> Tensor:
        """`(B, 3, H, W)` -> `(B, G, 3, H, W)`; saturation or luminance element `M // 2` is the image itself."""
        if self.mode == "pil8":
            middle = [0, *(order // 2 for order in self.group.orders[1:])]
            steps = [[i - m for i, m in zip(element, middle, strict=True)] for element in self.group.elements()]
            return torch.stack([self.decode(self.act(angles, step)) for step in steps], 1)
        hues, saturations, luminances = (self._orbit(angles[:, axis], axis) for axis in range(3))
        # rgb = maximum - chroma * fall(hue): N maps of the one, M * R of the other, one broadcast product for all.
        max_chroma = get_color_space(self.color_space).max_chroma
        largest, chroma = max_chroma(saturations[:, :, None], luminances[:, None])  # (B, M, R, H, W)
        fall = hue_fall(hues)[:, :, None, None]  # (B, N, 1, 1, 3, H, W)
        lifted = torch.addcmul(largest[:, None, :, :, None], chroma[:, None, :, :, None], fall, value=-1)
        return lifted.clamp(0, 1).flatten(1, 3)

    def _orbit(self, channel: Tensor, axis: int) -> Tensor:
        """`(B, H, W)` -> `(B, order, H, W)`."""
        order = self.group.orders[axis]
        middle = 0 if axis == 0 else order // 2
        offsets = [self.offset(axis, i - middle) for i in range(order)]
        moved = channel[:, None] + torch.tensor(offsets, dtype=channel.dtype, device=channel.device)[:, None, None]
        return moved if axis == 0 else moved.clamp(0, 1)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, color_space={self.color_space}, frac_space={self.frac_space}, mode={self.mode}"
