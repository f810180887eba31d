"""Band-limited functions on a product of cyclic groups (`algebra.band`) as tensors, movable by any angle."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import torch
from torch import Tensor, nn

from t3cen.algebra.band import fine_orders, interpolation, projection, translation, whole
from t3cen.algebra.bilinear import Matrix
from t3cen.groups import CyclicProduct
from t3cen.ops import along_axes


@dataclass(frozen=True)
class BandLimit:
    """How finely a band-limited network samples the circle where something nonlinear happens, as multiples of the order.

    Attributes:
        lift: points of the lifting, `P = lift * N` on each axis, or `"exact"` for the Fourier series itself (P without end),
            which colour liftings have and the scale lifting has not.
        activation: points of every activation and max-pooling over the plane, `Q = activation * N`.
        pool: points of the maximum over the group at the end. A mean over the group is exact without.

    Raises:
        ValueError: a number that is not whole or is less than 1, another word than `"exact"`.
    """

    lift: int | str = "exact"
    activation: int = 3
    pool: int = 8

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (whole(value) or (field.name == "lift" and value == "exact")):
                word = " or 'exact'" if field.name == "lift" else ""
                raise ValueError(f"band_limit.{field.name} must be a whole number >= 1{word}, got {value!r}")

    @classmethod
    def of(cls, setting: Any) -> BandLimit | None:
        """From a configuration: False or None is no band limit, True the defaults, a mapping its attributes.

        Raises:
            ValueError: anything else, or an unknown attribute.
        """
        if setting is None or isinstance(setting, BandLimit):
            return setting
        if isinstance(setting, bool):
            return cls() if setting else None
        known = [field.name for field in fields(cls)]
        if not hasattr(setting, "keys") or not set(setting) <= set(known):
            raise ValueError(f"band_limit is true, false or a mapping of {', '.join(known)}, got {setting!r}")
        return cls(**setting)


def shift(f: Tensor, group: CyclicProduct, element: Sequence[float]) -> Tensor:
    """Act on a function on the group by any element, fractions of a step included: `shift(f, e)(g) = f(g + e)`.

    Args:
        f: `(B, G, ...)`, floating point.
        group: the group; for whole steps the result is `group.act(f, element)`, to rounding.
        element: steps along each factor.

    Returns:
        a new tensor shaped like `f`: the values, one `element` further, of the trigonometric polynomial through its samples.

    Raises:
        ValueError: another number of group entries or of steps.
    """
    if len(element) != len(group.orders):
        raise ValueError(f"{len(element)} steps in {tuple(element)}, {len(group.orders)} expected by {group}")
    check_entries(f, group)
    moved = [translation(n, e) for n, e in zip(group.orders, element, strict=True)]
    return along_axes([torch.as_tensor(m).to(f) for m in moved], f)


class AxisMap(nn.Module):
    """One fixed matrix along each factor of the group, `(B, G, ...)` -> `(B, G', ...)`, in the precision of its input.

    The matrices are derived, so they stay out of `state_dict`.
    """

    axis0: Tensor

    def __init__(self, matrices: Sequence[Matrix]) -> None:
        super().__init__()
        self._exact = tuple(matrices)
        for index, matrix in enumerate(self._exact):
            self.register_buffer(f"axis{index}", torch.as_tensor(matrix, dtype=torch.float32), persistent=False)

    def forward(self, f: Tensor) -> Tensor:
        return along_axes(self.matrices(f), f)

    def matrices(self, like: Tensor) -> list[Tensor]:
        """The matrices on the device and in the precision of `like`."""
        if like.dtype == torch.float64 and self.axis0.dtype != torch.float64:
            return [torch.as_tensor(matrix, device=like.device) for matrix in self._exact]
        return [matrix.to(like.dtype) for matrix in self.buffers()]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> AxisMap:
        module = cast(AxisMap, super()._apply(fn, recurse))
        # Made anew: float32 made float64 would keep float32's error, and half precision would be too coarse for the lifting.
        double = module.axis0.dtype == torch.float64
        for index, matrix in enumerate(module._exact):
            exact = torch.as_tensor(matrix, dtype=torch.float64 if double else torch.float32)
            setattr(module, f"axis{index}", exact.to(module.axis0.device))
        return module

    def extra_repr(self) -> str:
        made, taken = (math.prod(matrix.shape[axis] for matrix in self._exact) for axis in (0, 1))
        return f"{taken} -> {made} group entries"


class Interpolate(AxisMap):
    """Band-limited samples -> their polynomial's values on a finer group, `points` times the order on each nontrivial axis."""

    def __init__(self, group: CyclicProduct, points: int) -> None:
        super().__init__([interpolation(n, q) for n, q in zip(group.orders, fine_orders(group.orders, points), strict=True)])


class Project(AxisMap):
    """Values on that finer group -> the samples of their lowest frequencies; undoes `Interpolate` and drops everything new."""

    def __init__(self, group: CyclicProduct, points: int) -> None:
        super().__init__([projection(n, q) for n, q in zip(group.orders, fine_orders(group.orders, points), strict=True)])


def check_entries(f: Tensor, group: CyclicProduct) -> None:
    """Raise ValueError where the second axis of `f` does not run over the group."""
    if f.ndim < 2 or f.shape[1] != group.order:
        got = f.shape[1] if f.ndim > 1 else "no"
        raise ValueError(f"{got} group entries in {tuple(f.shape)}, {group.order} expected by {group}")
