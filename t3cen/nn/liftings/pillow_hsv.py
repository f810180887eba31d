"""Pillow's 8-bit HSV, as the predecessor's data loader used it; for LCER's reference mode only."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

# Pillow's hue runs over 256 steps of a turn, its saturation and value over 0 to 255.
_SCALE = (256, 255, 255)


def rgb_to_pil(rgb: Tensor) -> Tensor:
    """`(B, 3, H, W)` RGB in [0, 1], rounded to 8 bits -> Pillow's HSV: hue in turns, saturation and value in [0, 1]."""
    return _convert(rgb * 255, "RGB", "HSV").to(rgb) / _scale(rgb)


def pil_to_rgb(hsv: Tensor) -> Tensor:
    """The inverse, `(B, 3, H, W)` hue in turns [0, 1), saturation and value in [0, 1] -> RGB in [0, 1] in steps of 1/255."""
    return _convert(hsv * _scale(hsv), "HSV", "RGB").to(hsv) / 255


def _scale(like: Tensor) -> Tensor:
    return torch.tensor(_SCALE, dtype=like.dtype, device=like.device)[:, None, None]


def _convert(levels: Tensor, source: str, target: str) -> Tensor:
    """`(B, 3, H, W)` in 8-bit levels, through Pillow; the batch is converted as one tall image."""
    from PIL import Image  # here: layers need PyTorch and NumPy alone

    batch, _, height, width = levels.shape
    pixels = levels.detach().round().to("cpu", torch.uint8).permute(0, 2, 3, 1).contiguous()
    image = Image.frombytes(source, (width, batch * height), pixels.numpy().tobytes())
    converted = np.array(image.convert(target))
    return torch.from_numpy(converted).view(batch, height, width, 3).permute(0, 3, 1, 2)
