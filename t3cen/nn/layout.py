"""The one place where functions on the group, `(B, G, C, H, W)`, become plain 2-D tensors, `(B*G, C, H, W)`, and back."""

from __future__ import annotations

from torch import Tensor


def fold(f: Tensor) -> Tensor:
    """`(B, G, C, H, W)` -> `(B*G, C, H, W)`, or `(B, G, C)` -> `(B*G, C)`: a view where the memory allows one.

    Raises:
        ValueError: fewer than three axes.
    """
    if f.ndim < 3:
        raise ValueError(f"a function on the group has shape (B, G, C, ...), got {tuple(f.shape)}")
    return f.flatten(0, 1)


def unfold(x: Tensor, order: int) -> Tensor:
    """`(B*G, C, H, W)` -> `(B, G, C, H, W)`, G being `order`; inverse of `fold`, always a view.

    Raises:
        ValueError: the first axis is no multiple of `order`.
    """
    if x.shape[0] % order:
        raise ValueError(f"{x.shape[0]} folded entries in {tuple(x.shape)}, a multiple of the group order {order} expected")
    # The group axis is named and the batch left open, so that a dynamic batch stays one symbol in an exported graph.
    return x.unflatten(0, (-1, order))
