"""Checks of what enters a network, each with an error that says what was wrong and what to do."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized

TOLERANCE = 1e-5  # resizing and colour conversion leave values a few rounding errors outside [0, 1]


def check_image(rgb: Tensor) -> Tensor:
    """An RGB image fit for lifting: checked, in [0, 1], float64 if it was, otherwise float32.

    Args:
        rgb: `(B, 3, H, W)` in [0, 1]; values up to 1e-5 outside are clipped.

    Raises:
        ValueError: wrong shape or channel count, not floating point, values outside [0, 1], NaN.
    """
    if rgb.ndim != 4:
        raise ValueError(f"an image batch has shape (B, 3, H, W), got {rgb.ndim} axes: {tuple(rgb.shape)}")
    if rgb.shape[1] != 3:
        raise ValueError(f"{rgb.shape[1]} channels in {tuple(rgb.shape)}, 3 (red, green, blue) expected")
    if not rgb.is_floating_point():
        raise ValueError(f"an image holds floats in [0, 1], got {rgb.dtype}; convert 8-bit images with image.float() / 255")
    _check_range(rgb)
    return (rgb if rgb.dtype == torch.float64 else rgb.float()).clamp(0, 1)


def _check_range(rgb: Tensor) -> None:
    """Raise if a value is NaN or outside [0, 1].

    Reading the two extremes back is the only wait for the device. A compiled or exported graph cannot branch on values, so
    there an assertion inside the graph takes the place of the error (RuntimeError, without the values; on a GPU it comes late).
    `torch.jit.trace` and a CUDA graph being captured can hold neither; they are left unchecked.
    """
    values = rgb.detach()
    if torch.compiler.is_compiling():
        inside = (values.min() >= -TOLERANCE) & (values.max() <= 1 + TOLERANCE)
        torch._assert_async(inside, "RGB values must lie in [0, 1], without NaN")
        return
    if torch.jit.is_tracing() or values.numel() == 0 or (values.is_cuda and torch.cuda.is_current_stream_capturing()):
        return
    low, high = torch.stack(torch.aminmax(values)).tolist()
    if not (low >= -TOLERANCE and high <= 1 + TOLERANCE):  # false for NaN too
        if low != low:
            raise ValueError("the image holds NaN; RGB values in [0, 1] expected")
        raise ValueError(
            f"RGB values must lie in [0, 1], got [{low:.6g}, {high:.6g}]; "
            "divide 8-bit images by 255 and leave normalisation to the network, which does it after lifting"
        )


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
