"""How the lifted representation of one value covers the interval [0, 1]."""

from __future__ import annotations

import torch
from torch import Tensor

from t3cen.covers import get_cover


def orbit_values(value: Tensor | float, order: int, cover: str = "triangle") -> Tensor:
    """The values a saturation or luminance takes under every element of a group.

    Args:
        value: `(...)`, in [0, 1].
        order: of the group, at least 1.
        cover: `"triangle"`, `"sine"` or `"half_sine"`.

    Returns:
        `(..., order)` float64 in [0, 1]; entry k after k steps, so entry 0 is the value itself.

    Raises:
        ValueError: a value outside [0, 1], an order below 1, an unknown cover.

    Source: paper, "Analyzing lifting layer coverage", the representation `f0 = phi(., x)`.
    """
    if order < 1:
        raise ValueError(f"the order of a group is at least 1, got {order}")
    value = torch.as_tensor(value, dtype=torch.float64)
    if value.numel() and not (value.min() >= 0 and value.max() <= 1):
        raise ValueError(f"values must lie in [0, 1], got [{value.min():.6g}, {value.max():.6g}]")
    double_cover = get_cover(cover)
    steps = torch.arange(order, dtype=torch.float64) / order
    return double_cover.project(double_cover.lift(value)[..., None] + steps)


def distinct_values(values: Tensor, tolerance: float = 1e-6) -> Tensor:
    """`(..., N)` values -> `(...)`: how many differ from each other by more than `tolerance`."""
    ordered = values.sort(-1).values
    return 1 + (ordered.diff(dim=-1) > tolerance).sum(-1)


def most_covered(order: int) -> Tensor:
    """`(order,)`: the values `k/N - 1/2N` the paper names as those of maximum coverage (for `c = 1`)."""
    return (torch.arange(1, order + 1, dtype=torch.float64) - 0.5) / order
