"""Hue, saturation, luminance."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.color.hexcone import hue_fall, hue_max_chroma, smallest, working


def rgb_to_hsl(rgb: Tensor) -> Tensor:
    """Hue, saturation and luminance of an RGB image.

    Args:
        rgb: `(..., 3, H, W)`, in [0, 1] (not checked; the liftings check).

    Returns:
        `(..., 3, H, W)`: hue in turns [0, 1), saturation and luminance in [0, 1]. Undefined hue (grey, black, white) and
        undefined saturation (black, white) are 0. float64 for float64 input, otherwise float32. Gradients are finite everywhere.

    Raises:
        ValueError: not a floating-point tensor, or not of shape `(..., 3, H, W)`.
    """
    image, least = working(rgb, "an RGB image"), smallest(rgb)
    hue, largest, chroma = hue_max_chroma(image, least)
    luminance = largest - chroma / 2
    room = 2 * torch.minimum(luminance, 1 - luminance)  # the largest chroma at this luminance
    defined = room > least
    saturation = torch.where(defined, chroma / torch.where(defined, room, 1), 0)
    return torch.stack([hue, saturation.clamp(0, 1), luminance], -3)


def hsl_to_rgb(hsl: Tensor) -> Tensor:
    """The RGB image of given hue, saturation and luminance; inverse of `rgb_to_hsl`.

    Args:
        hsl: `(..., 3, H, W)`: hue in turns (taken modulo 1), saturation and luminance in [0, 1] (not checked).

    Returns:
        `(..., 3, H, W)` in [0, 1]; float64 for float64 input, otherwise float32.

    Raises:
        ValueError: not a floating-point tensor, or not of shape `(..., 3, H, W)`.
    """
    hue, saturation, luminance = working(hsl, "an HSL image").unbind(-3)
    largest, chroma = hsl_max_chroma(saturation, luminance)
    return (largest.unsqueeze(-3) - chroma.unsqueeze(-3) * hue_fall(hue)).clamp(0, 1)


def hsl_max_chroma(saturation: Tensor, luminance: Tensor) -> tuple[Tensor, Tensor]:
    """Largest channel and chroma, in [0, 1], of given saturation and luminance in [0, 1]; any broadcastable shapes."""
    half_chroma = saturation * torch.minimum(luminance, 1 - luminance)
    return luminance + half_chroma, 2 * half_chroma
