"""The entropy of the partition that a lifted value makes of [0, 1], and the order it suggests."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from t3cen.analysis.coverage import orbit_values

PIECES = ("gaps", "all", "normalized")


def interval_entropy(values: Tensor, pieces: str = "gaps") -> Tensor:
    """Entropy of the partition of [0, 1] by points.

    The paper prints `H = 1/c sum_{i=1}^{N-1} v_i log v_i` with `v_i = p_{i+1} - p_i` for the partition `(0, p_1, ..., p_N, c)`:
    without the minus sign an entropy has, and without the two pieces at the ends. Here `c = 1` and the sign is there.

    Args:
        values: `(..., N)`, the points, in any order.
        pieces: `"gaps"`, the N - 1 pieces between points, as printed; `"all"`, those and the two at the ends; `"normalized"`,
            the N - 1 pieces as shares of their sum, which is the only reading whose largest value lies where the points
            are evenly spaced.

    Returns:
        `(...)`, in nats, at least 0. One point makes no gap: 0 but for `"all"`.

    Raises:
        ValueError: unknown `pieces`.

    Source: paper, "Analyzing lifting layer coverage".
    """
    if pieces not in PIECES:
        raise ValueError(f"pieces must be one of {', '.join(PIECES)}, got {pieces!r}")
    points = values.sort(-1).values
    lengths = points.diff(dim=-1)
    if pieces == "all":
        lengths = torch.cat([points[..., :1], lengths, 1 - points[..., -1:]], -1)
    if pieces == "normalized":
        total = lengths.sum(-1, keepdim=True)
        lengths = lengths / torch.where(total > 0, total, 1)
    return -torch.xlogy(lengths, lengths).sum(-1)


def entropy_density(value: Tensor, orders: Sequence[int], cover: str = "triangle", pieces: str = "gaps") -> Tensor:
    """Entropy per group element, H/N.

    Args:
        value: `(V,)`, input values in [0, 1].
        orders: the orders to compare.
        cover, pieces: as in `orbit_values` and `interval_entropy`.

    Returns:
        `(len(orders), V)`, in nats per element.

    Source: paper, "Selecting the right order".
    """
    return torch.stack([interval_entropy(orbit_values(value, order, cover), pieces) / order for order in orders])


def best_orders(density: Tensor, orders: Sequence[int]) -> Tensor:
    """`(len(orders), V)` entropy densities -> `(V,)`: the order with the highest density for each value, the lowest of equals."""
    # Rounding must not decide between orders whose densities are equal in exact arithmetic.
    nearly = density >= density.amax(0) - 1e-12
    return torch.tensor(list(orders))[nearly.to(torch.int8).argmax(0)]
