"""What a colour group costs, by arithmetic: the network keeps its parameters, so its width shrinks with the group's order."""

from __future__ import annotations

import math
from dataclasses import dataclass

from t3cen.groups import CyclicProduct


@dataclass(frozen=True)
class GroupCost:
    """Cost against the plain network of as many parameters.

    Attributes:
        direct: multiplications, filter bank expanded over the group.
        fourier: multiplications, convolved frequency by frequency (three real ones for a complex one).
        activations: memory of the feature maps.
    """

    direct: float
    fourier: float
    activations: float


def group_cost(group: CyclicProduct) -> GroupCost:
    """The cost of a group: `|G|` directly; about 1.3 by Fourier; `sqrt(|G|)` in activations.

    A frequency that is its own conjugate costs one real convolution per pair of channels, a conjugate pair three; widths are
    divided by `sqrt(|G|)`.
    """
    size = group.order
    own = math.prod(2 if order % 2 == 0 else 1 for order in group.orders)
    return GroupCost(direct=float(size), fourier=(own + 3 * (size - own) / 2) / size, activations=math.sqrt(size))
