"""Group convolution by its definition: expand the filter bank over the group and call an ordinary convolution."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops.axes import autocasts
from t3cen.ops.geometry import ConvGeometry


def direct_group_conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None, orders: Sequence[int], geometry: ConvGeometry
) -> Tensor:
    """`out(a) = sum_b input(b) * weight(a - b)`, the readable reference the fast backend is tested against.

    Args:
        input: `(B, G, C, H, W)`, group elements row-major.
        weight: `(C', C / groups, *orders, kh, kw)`: its shape says in how many groups the channels are.
        bias: `(C',)` or None; the same for every group element.
        orders: of the cyclic factors.
        geometry: stride, padding and dilation.

    Returns:
        `(B, G, C', H', W')` in the precision of the weight, or of an autocast.

    Source: paper, eq. 2.
    """
    size, groups = input.shape[1], input.shape[2] // weight.shape[1]
    bank = expand_filters(weight, orders, groups)
    # All elements of a group of channels lie together.
    input = in_precision_of(weight, input).unflatten(2, (groups, -1)).transpose(1, 2).flatten(1, 3)
    repeated = None if bias is None else bias.view(groups, 1, -1).expand(-1, size, -1).flatten()
    out = F.conv2d(input, bank, repeated, *geometry, groups)
    return out.unflatten(1, (groups, size, -1)).transpose(1, 2).flatten(2, 3)


def in_precision_of(weight: Tensor, input: Tensor) -> Tensor:
    """The input as a convolution with `weight` needs it: liftings are float32 at least, and autocast sees to its own."""
    return input if autocasts(input.device) else input.to(weight.dtype)


def expand_filters(weight: Tensor, orders: Sequence[int], groups: int = 1) -> Tensor:
    """The bank `(G C', G C / groups, kh, kw)` with `bank[(a, o), (b, i)] = weight[o, i, a - b]`, one group of outputs o after
    the other."""
    size = torch.Size(orders).numel()
    by_element = weight.reshape(*weight.shape[:2], size, *weight.shape[-2:])
    bank = by_element[:, :, differences(orders, weight.device)]
    by_groups = bank.unflatten(0, (groups, -1)).permute(0, 3, 1, 4, 2, 5, 6)
    return by_groups.reshape(size * weight.shape[0], size * weight.shape[1], *weight.shape[-2:])


def differences(orders: Sequence[int], device: torch.device | None = None) -> Tensor:
    """`(G, G)` table of the row-major index of `a - b`."""
    table = torch.zeros(1, 1, dtype=torch.long, device=device)
    for order in orders:
        steps = torch.arange(order, device=device)
        own = (steps[:, None] - steps) % order
        table = (table[:, None, :, None] * order + own[:, None]).flatten(2).flatten(0, 1)
    return table
