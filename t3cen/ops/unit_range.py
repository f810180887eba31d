"""Images in [0, 1], or an error: at once on the CPU, and without waiting for it on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from t3cen.ops.late import Late
from t3cen.ops.operator import kernel_for, operator

TOLERANCE = 1e-5  # resizing and colour conversion leave values a few rounding errors outside [0, 1]


def _backward(saved: list[Tensor], needed: Sequence[bool], gradient: Tensor) -> list[Tensor]:
    (image,) = saved
    return [gradient.masked_fill((image < 0) | (image > 1), 0)]


@operator("unit_range(Tensor image) -> Tensor", backward=_backward)
def unit_range(image: Tensor) -> Tensor:
    """The image, rounding errors outside [0, 1] clipped.

    On a GPU the extremes are read when they have arrived, so that no step waits for them: the error comes a few calls late, and
    not at all while a CUDA graph is captured. In an exported program an assertion takes its place.

    Args:
        image: floating point, any shape.

    Raises:
        ValueError: values more than 1e-5 outside [0, 1], or NaN.
    """
    if image.numel() != 0:
        values = image.flatten()  # ONNX has extremes along axes
        inside = (values.amin(0) >= -TOLERANCE) & (values.amax(0) <= 1 + TOLERANCE)
        torch._assert_async(inside, "RGB values must lie in [0, 1], without NaN")
    return image.clamp(0, 1)


def _refuse(extremes: list[float]) -> None:
    low, high = extremes
    if low >= -TOLERANCE and high <= 1 + TOLERANCE:  # false for NaN too
        return
    if low != low:
        raise ValueError("the image holds NaN; RGB values in [0, 1] expected")
    raise ValueError(
        f"RGB values must lie in [0, 1], got [{low:.6g}, {high:.6g}]; "
        "divide 8-bit images by 255 and leave normalisation to the network, which does it after lifting"
    )


_EXTREMES = Late(_refuse)


def _checked(image: Tensor) -> Tensor:
    if image.numel() != 0:
        _EXTREMES.put(torch.stack(torch.aminmax(image)))
    return image.clamp(0, 1)


kernel_for("CPU", "unit_range", _checked)
kernel_for("CUDA", "unit_range", _checked)
