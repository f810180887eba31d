"""Channels that keep the number of parameters fixed whatever the group."""

from __future__ import annotations

import math
from collections.abc import Sequence


def fixed_parameters(widths: Sequence[int], order: int) -> tuple[int, ...]:
    """`floor(width / sqrt(order))` for each stage.

    A group convolution has `order * in * out * k * k` weights, so dividing both widths by
    `sqrt(order)` leaves that number where it was.

    Raises:
        ValueError: a stage would be left without a channel.

    Source: paper, appendix "Degradation of performance at large lifting".
    """
    narrowed = tuple(math.isqrt(width * width // order) for width in widths)
    if min(narrowed) < 1:
        least = math.isqrt(order - 1) + 1
        raise ValueError(
            f"a group of order {order} leaves no channel in a stage of width {min(widths)}; "
            f"use width >= {least} or a smaller group"
        )
    return narrowed
