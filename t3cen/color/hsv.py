"""Hue, saturation, value."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.color.hexcone import hue_fall, hue_max_chroma, smallest, working


def rgb_to_hsv(rgb: Tensor) -> Tensor:
    """Hue, saturation and value of an RGB image.

    Args:
        rgb: `(..., 3, H, W)`, in [0, 1] (not checked; the liftings check).

    Returns:
        `(..., 3, H, W)`: hue in turns [0, 1), saturation and value in [0, 1]. Undefined hue (grey, black) and undefined
        saturation (black) are 0. float64 for float64 input, otherwise float32. Gradients are finite everywhere.

    Raises:
        ValueError: not a floating-point tensor, or not of shape `(..., 3, H, W)`.
    """
    image, least = working(rgb, "an RGB image"), smallest(rgb)
    hue, value, chroma = hue_max_chroma(image, least)
    defined = value > least
    saturation = torch.where(defined, chroma / torch.where(defined, value, 1), 0)
    return torch.stack([hue, saturation.clamp(0, 1), value], -3)


def hsv_to_rgb(hsv: Tensor) -> Tensor:
    """The RGB image of given hue, saturation and value; inverse of `rgb_to_hsv`.

    Args:
        hsv: `(..., 3, H, W)`: hue in turns (taken modulo 1), saturation and value in [0, 1] (not checked).

    Returns:
        `(..., 3, H, W)` in [0, 1]; float64 for float64 input, otherwise float32.

    Raises:
        ValueError: not a floating-point tensor, or not of shape `(..., 3, H, W)`.
    """
    hue, saturation, value = working(hsv, "an HSV image").unbind(-3)
    largest, chroma = hsv_max_chroma(saturation, value)
    return (largest.unsqueeze(-3) - chroma.unsqueeze(-3) * hue_fall(hue)).clamp(0, 1)


def hsv_max_chroma(saturation: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Largest channel and chroma, in [0, 1], of given saturation and value in [0, 1]; any broadcastable shapes."""
    saturation, value = torch.broadcast_tensors(saturation, value)
    return value, saturation * value
