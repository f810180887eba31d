"""Shifts of hue, saturation and luminance over any range: the augmentation that an equivariant network does without."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from t3cen.augment import AUGMENTATIONS
from t3cen.augment.images import to_float
from t3cen.data.shifts import MODES, Uniform


@AUGMENTATIONS.register
class ColorShift:
    """One shift per image and axis, uniform in a range, made in HSL exactly as the shifted test sets are.

    Args:
        hue: lowest and highest shift, in turns.
        saturation, luminance: lowest and highest shift, in [-1, 1].
        mode: at the ends of saturation and luminance, `clip`, `fold` or `scale`; see `t3cen.data.shifts`.

    Raises:
        ValueError: a range that is not two numbers in order, or all of them empty; an unknown mode.

    Not in the paper; our "plain with full-range jitter".
    """

    def __init__(
        self,
        hue: Sequence[float] = (0.0, 0.0),
        saturation: Sequence[float] = (0.0, 0.0),
        luminance: Sequence[float] = (0.0, 0.0),
        mode: str = "clip",
    ) -> None:
        ranges = {"hue": tuple(hue), "saturation": tuple(saturation), "luminance": tuple(luminance)}
        for name, bounds in ranges.items():
            if len(bounds) != 2 or not bounds[0] <= bounds[1]:
                raise ValueError(f"{name} must be two numbers, the lowest and the highest shift, got {bounds}")
        if not any(any(bounds) for bounds in ranges.values()):
            raise ValueError("a colour shift with every range at 0 does nothing; use augment=none instead")
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        self.shift = Uniform(**ranges, mode=mode)  # type: ignore[arg-type]

    def __call__(self, image: Tensor, generator: torch.Generator) -> Tensor:
        """`(3, H, W)` uint8 -> `(3, H, W)` float32 in [0, 1]."""
        return self.shift(to_float(image), generator)

    def __repr__(self) -> str:
        return f"ColorShift({self.shift})"
