"""How a kernel moves over the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Pair = tuple[int, int]


class ConvGeometry(NamedTuple):
    """Stride, padding and dilation, each vertical and horizontal, as in `torch.nn.functional.conv2d`."""

    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)

    @property
    def numbers(self) -> list[int]:
        """All six, as operators take them."""
        return [*self.stride, *self.padding, *self.dilation]

    @classmethod
    def of(cls, numbers: Sequence[int]) -> ConvGeometry:
        """From all six."""
        down, right, *others = numbers
        return cls((down, right), (others[0], others[1]), (others[2], others[3]))

    def output_size(self, size: Sequence[int], kernel: Sequence[int]) -> Pair:
        """Height and width after a kernel of this size.

        Raises:
            ValueError: the kernel is larger than the map.
        """
        height, width = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, *self, strict=True))
        if height < 1 or width < 1:
            kernel_size, map_size = ("x".join(map(str, sides)) for sides in (kernel, size))
            raise ValueError(f"a kernel of {kernel_size} does not fit on a map of {map_size} with {self}")
        return height, width
