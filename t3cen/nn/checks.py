"""Checks of what enters a network, each with an error that says what was wrong and what to do."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized

from t3cen.ops import unit_range


def check_image(rgb: Tensor) -> Tensor:
    """An RGB image fit for lifting: checked, in [0, 1], float64 if it was, otherwise float32.

    Args:
        rgb: `(B, 3, H, W)` in [0, 1]; values up to 1e-5 outside are clipped.

    Raises:
        ValueError: wrong shape or channel count, not floating point, values outside [0, 1], NaN (on a GPU a few calls later).
    """
    if rgb.ndim != 4:
        raise ValueError(f"an image batch has shape (B, 3, H, W), got {rgb.ndim} axes: {tuple(rgb.shape)}")
    if rgb.shape[1] != 3:
        raise ValueError(f"{rgb.shape[1]} channels in {tuple(rgb.shape)}, 3 (red, green, blue) expected")
    if not rgb.is_floating_point():
        raise ValueError(f"an image holds floats in [0, 1], got {rgb.dtype}; convert 8-bit images with image.float() / 255")
    return unit_range(rgb if rgb.dtype == torch.float64 else rgb.float())


def check_own_parameters(layer: nn.Module) -> None:
    """Refuse a layer whose parameters `torch.nn.utils.parametrize` makes out of others: they cannot be replaced.

    Raises:
        ValueError: such a layer.
    """
    if is_parametrized(layer):
        # Not done here: torch would take them from the layer's copies too, which share its class.
        names = ", ".join(layer.parametrizations)  # type: ignore[arg-type]
        raise ValueError(
            f"{type(layer).__name__} has a parametrised {names}, which cannot be replaced; "
            "call torch.nn.utils.parametrize.remove_parametrizations on the layer first"
        )
