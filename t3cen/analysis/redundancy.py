"""Values whose lifted representation repeats itself, and how many pixels have one."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from t3cen.color import rgb_to_hsl
from t3cen.covers import get_cover

FULL = (0.5,)
PARTIAL = (0.25, 0.75)
HALF_LEVEL = 1 / 510
"""Half the distance of two 8-bit levels: a level counts as a value when no other level is nearer to it."""


def redundant_values(order: int, cover: str = "triangle") -> Tensor:
    """The inputs whose orbit holds some value twice.

    A value repeats when the orbit of its angle meets the orbit of the mirrored angle: at every multiple of `1/2N` of a turn
    from the end of the principal branch. Under the triangle cover these are the paper's `kc/N`, with k = 0 among them.

    Returns:
        `(order + 1,)` float64, rising from 0 to 1.

    Source: paper, "Redundant representations".
    """
    if order < 1:
        raise ValueError(f"the order of a group is at least 1, got {order}")
    double_cover = get_cover(cover)
    angles = double_cover.branch[0] + torch.arange(order + 1, dtype=torch.float64) / (2 * order)
    return double_cover.project(angles)


def near(values: Tensor, targets: Iterable[float], tolerance: float = HALF_LEVEL) -> Tensor:
    """`(...)` booleans: values within `tolerance` of one of `targets`, both ends included."""
    # 8-bit levels lie exactly on the edge of the tolerance; rounding must not push them over it.
    edge = tolerance + 8 * torch.finfo(values.dtype).eps
    return torch.stack([(values - target).abs() <= edge for target in targets]).any(0)


def redundancy_shares(batches: Iterable[Tensor], tolerance: float = HALF_LEVEL) -> dict[str, dict[str, float]]:
    """Share of pixels that are fully (0.5) or partially (0.25, 0.75) redundant for order 4.

    The paper does not say whose value it counts, so saturation, luminance and their mean are all given.

    Args:
        batches: images `(B, 3, H, W)`, RGB in [0, 1].
        tolerance: how far from 0.5, 0.25, 0.75 a value may lie; the default is half an 8-bit level.

    Returns:
        `{"saturation": {"full": ..., "partial": ...}, "luminance": {...}, "mean": {...}}`, shares in [0, 1].

    Raises:
        ValueError: no pixel at all.

    Source: paper, appendix "Redundant Lifting".
    """
    counts = {axis: {"full": 0, "partial": 0} for axis in ("saturation", "luminance")}
    pixels = 0
    for rgb in batches:
        _, saturation, luminance = rgb_to_hsl(rgb).unbind(-3)
        pixels += saturation.numel()
        for axis, values in (("saturation", saturation), ("luminance", luminance)):
            counts[axis]["full"] += int(near(values, FULL, tolerance).sum())
            counts[axis]["partial"] += int(near(values, PARTIAL, tolerance).sum())
    if not pixels:
        raise ValueError("no images to count redundant pixels in")
    shares = {axis: {kind: count / pixels for kind, count in kinds.items()} for axis, kinds in counts.items()}
    shares["mean"] = {kind: (shares["saturation"][kind] + shares["luminance"][kind]) / 2 for kind in ("full", "partial")}
    return shares
