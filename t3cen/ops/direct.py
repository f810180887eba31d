"""Group convolution by its definition: expand the filter bank over the group and call an ordinary convolution."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from t3cen.ops.geometry import ConvGeometry


def direct_group_conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None, orders: Sequence[int], geometry: ConvGeometry
) -> Tensor:
    """`out(a) = sum_b input(b) * weight(a - b)`, the readable reference the fast backend is tested against.

    Args:
        input: `(B, G, C, H, W)`, group elements row-major.
        weight: `(C', C, *orders, kh, kw)`.
        bias: `(C',)` or None; the same for every group element.
        orders: of the cyclic factors.
        geometry: stride, padding and dilation.

    Returns:
        `(B, G, C', H', W')` in the precision of the weight, or of an autocast.

    Source: paper, eq. 2.
    """
    bank = expand_filters(weight, orders)
    size = input.shape[1]
    input = in_precision_of(weight, input)
    repeated = None if bias is None else bias.repeat(size)
    out = F.conv2d(input.flatten(1, 2), bank, repeated, *geometry)
    return out.unflatten(1, (size, -1))


def in_precision_of(weight: Tensor, input: Tensor) -> Tensor:
    """The input as a convolution with `weight` needs it: liftings are float32 at least, and autocast sees to its own."""
    return input if torch.is_autocast_enabled(input.device.type) else input.to(weight.dtype)


def expand_filters(weight: Tensor, orders: Sequence[int]) -> Tensor:
    """The bank `(G C', G C, kh, kw)` with `bank[(a, o), (b, i)] = weight[o, i, a - b]`."""
    size = torch.Size(orders).numel()
    by_element = weight.reshape(*weight.shape[:2], size, *weight.shape[-2:])
    bank = by_element[:, :, torch.tensor(differences(tuple(orders)), device=weight.device)]
    return bank.permute(2, 0, 3, 1, 4, 5).reshape(size * weight.shape[0], size * weight.shape[1], *weight.shape[-2:])


@torch._dynamo.assume_constant_result
def differences(orders: tuple[int, ...]) -> list[list[int]]:
    """`(G, G)` table of the row-major index of `a - b`."""
    return _differences(orders)


@functools.cache
def _differences(orders: tuple[int, ...]) -> list[list[int]]:
    elements = list(itertools.product(*map(range, orders)))
    index = {element: i for i, element in enumerate(elements)}
    return [[index[tuple((i - j) % n for i, j, n in zip(a, b, orders, strict=True))] for b in elements] for a in elements]
