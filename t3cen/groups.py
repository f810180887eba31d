"""The finite groups the networks are equivariant to: products of cyclic groups."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from numbers import Integral

import torch
from torch import Tensor

Element = tuple[int, ...]


class CyclicProduct:
    """The product C_{n1} x C_{n2} x ... of cyclic groups, its elements in row-major order.

    A function on the group is a tensor `(B, G, ...)` whose second axis runs over `elements()`:
    the first factor slowest, the last fastest.

    Args:
        orders: one order >= 1 for each factor.

    Raises:
        ValueError: an order is not a whole number >= 1.

    Source: paper, "HSL group and group action"; appendix B.
    """

    names: tuple[str, ...] = ()

    def __init__(self, *orders: int) -> None:
        for name, order in zip(self.names or map(str, range(len(orders))), orders, strict=True):
            if isinstance(order, bool) or not isinstance(order, Integral) or order < 1:
                raise ValueError(f"the {name} order must be a whole number >= 1, got {order!r}")
        self.orders: tuple[int, ...] = tuple(map(int, orders))

    @property
    def order(self) -> int:
        """Number of group elements."""
        return math.prod(self.orders)

    def __len__(self) -> int:
        return self.order

    def elements(self) -> Iterator[Element]:
        """All elements, as tuples of whole steps, row-major."""
        return itertools.product(*map(range, self.orders))

    def inverse(self, element: Sequence[int]) -> Element:
        """The element that undoes `element`."""
        return tuple(-e % n for e, n in zip(self._checked(element), self.orders, strict=True))

    def act(self, f: Tensor, element: Sequence[float]) -> Tensor:
        """Act on a function on the group: `act(f, e)(g) = f(g + e)`.

        Args:
            f: `(B, G, ...)`, any dtype.
            element: whole steps along each factor; taken modulo the orders.

        Returns:
            a new tensor shaped like `f`, the group axis permuted cyclically along each factor.

        Raises:
            ValueError: another number of group entries, of steps, or fractions of a step.

        Source: paper, action on functions, `phi(h_i, f) = (f_{1+i}, ..., f_{N+i})`, indices mod N.
        """
        if f.ndim < 2 or f.shape[1] != self.order:
            got = f.shape[1] if f.ndim > 1 else "no"
            raise ValueError(f"{got} group entries in {tuple(f.shape)}, {self.order} expected by {self}")
        shifts = tuple(-e for e in self._checked(element))
        if not shifts:
            return f.clone()
        unfolded = f.unflatten(1, self.orders)
        return torch.roll(unfolded, shifts, tuple(range(1, 1 + len(shifts)))).reshape(f.shape)

    def _checked(self, element: Sequence[float]) -> Element:
        if len(element) != len(self.orders):
            raise ValueError(f"{len(element)} steps in {tuple(element)}, {len(self.orders)} expected by {self}")
        if any(e != round(e) for e in element):
            raise ValueError(f"{tuple(element)} is no element of {self}: whole steps expected")
        return tuple(int(e) for e in element)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CyclicProduct) and type(self) is type(other) and self.orders == other.orders

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.orders))

    def __repr__(self) -> str:
        named = zip(self.names or [""] * len(self.orders), self.orders, strict=True)
        return f"{type(self).__name__}({', '.join(f'{n}={o}' if n else str(o) for n, o in named)})"


class ColorGroup(CyclicProduct):
    """Shifts of hue, saturation and luminance: `C_hue x C_saturation x C_luminance`.

    One hue step is `1/hue` of a turn. One saturation or luminance step is `1/order` of a turn of the
    double cover, which under the triangle cover is a shift of the value by `2/order`.
    """

    names = ("hue", "saturation", "luminance")

    def __init__(self, hue: int = 1, saturation: int = 1, luminance: int = 1) -> None:
        super().__init__(hue, saturation, luminance)

    @classmethod
    def parse(cls, text: str) -> ColorGroup:
        """The group written as in the paper's tables: `"h4"`, `"s3"`, `"h4s4l4"`; `""` is the trivial one.

        Raises:
            ValueError: the text is no such name.
        """
        match = re.fullmatch(r"(?:h(\d+))?(?:s(\d+))?(?:l(\d+))?", text.strip().lower())
        if match is None:
            raise ValueError(
                f"{text!r} names no colour group; write h, s, l in this order, each with its order, as in 'h4', 's3' or 'h4s4l4'"
            )
        return cls(*(int(order or 1) for order in match.groups()))

    @property
    def short_name(self) -> str:
        """The name used in the paper's tables, `"h4s4"`; `"h1"` for the trivial group."""
        return "".join(f"{n[0]}{o}" for n, o in zip(self.names, self.orders, strict=True) if o > 1) or "h1"


class RGBGroup(CyclicProduct):
    """Shifts of the red, green and blue values, each along its double cover (paper, Discussion)."""

    names = ("red", "green", "blue")

    def __init__(self, red: int = 1, green: int = 1, blue: int = 1) -> None:
        super().__init__(red, green, blue)


class LightGroup(CyclicProduct):
    """Shifts of the logarithms of exposure, of red over green, and of blue over green (docs/light.md)."""

    names = ("exposure", "red_green", "blue_green")

    def __init__(self, exposure: int = 1, red_green: int = 1, blue_green: int = 1) -> None:
        super().__init__(exposure, red_green, blue_green)


class ScaleGroup(CyclicProduct):
    """Steps of scale along its double cover (paper, Discussion)."""

    names = ("scale",)

    def __init__(self, scale: int = 1) -> None:
        super().__init__(scale)
