"""The stored image that every augmentation takes: checked, and made float."""

from __future__ import annotations

import torch
from torch import Tensor


def check_uint8(image: Tensor) -> Tensor:
    """The image itself.

    Raises:
        ValueError: not a uint8 tensor `(3, H, W)`.
    """
    if image.dtype != torch.uint8 or image.ndim != 3 or image.shape[0] != 3:
        raise ValueError(f"an augmentation takes one uint8 image (3, H, W), got {image.dtype} {tuple(image.shape)}")
    return image


def to_float(image: Tensor) -> Tensor:
    """`(3, H, W)` uint8 -> `(3, H, W)` float32 in [0, 1], a new tensor. Raises as `check_uint8`."""
    return check_uint8(image).float() / 255
