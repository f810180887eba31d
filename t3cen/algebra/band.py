"""Band-limited functions on a cyclic group: samples of trigonometric polynomials, and the matrices that move them.

N samples along a circle stand for the polynomial with the frequencies up to `K = (N - 1) // 2` that passes through them. An
odd N uses all its freedom. An even N has a middle frequency N/2 as well, whose samples +1, -1, +1, ... show its cosine but not
its sine, so that no fraction of a step can turn it: it is dropped, and N - 1 degrees of freedom are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from t3cen.algebra.bilinear import Matrix


def band(order: int) -> int:
    """The highest frequency that `order` samples keep, K.

    Raises:
        ValueError: order 2, which keeps only the mean.
    """
    if order == 2:
        raise ValueError("2 samples keep no frequency but the mean; a band-limited axis needs order 3 or more, or 1 for none")
    return (order - 1) // 2


def interpolation(order: int, points: int) -> Matrix:
    """`(points, order)`: from samples to the values of their polynomial at `points` places, the first at the first sample.

    It is an isometry up to scale: `projection` is its transpose times `order / points`.
    """
    if order == 1:
        return np.ones((1, 1))
    if points < order:
        raise ValueError(f"{points} points cannot hold the band of {order} samples; at least {order} expected")
    places, samples = np.arange(points) / points, np.arange(order) / order
    return _kernel(places[:, None] - samples, np.ones(band(order))) / order


def projection(order: int, points: int) -> Matrix:
    """`(order, points)`: from values at `points` places to the samples of their lowest frequencies, `band(order)` and below."""
    return interpolation(order, points).T * (order / points if order > 1 else 1)


def mean_projection(order: int, points: int) -> Matrix:
    """`(order, points)`: the same from means over the pieces between neighbouring places, the first piece behind the first place.

    A function that is linear on every piece has the frequency k of its means multiplied by `cos(pi k / points)`; divided by that,
    the result is the projection of the values.

    Raises:
        ValueError: no more points than samples; the highest frequencies of so coarse means are all but gone.
    """
    if order == 1:
        return np.ones((1, 1))
    if points <= order:
        raise ValueError(f"means over {points} pieces do not hold the band of {order} samples; more pieces expected")
    places, samples = (np.arange(points) + 0.5) / points, np.arange(order) / order
    frequencies = np.arange(1, band(order) + 1)
    return _kernel(samples[:, None] - places, 1 / np.cos(np.pi * frequencies / points)) / points


def fine_orders(orders: Sequence[int], points: int) -> tuple[int, ...]:
    """The orders of the finer group: `points` times each, but 1 for 1.

    Raises:
        ValueError: `points` is not a whole number, or less than 1.
    """
    if not whole(points):
        raise ValueError(f"points must be a whole number >= 1, got {points!r}")
    return tuple(points * n if n > 1 else 1 for n in orders)


def translation(order: int, steps: float) -> Matrix:
    """`(order, order)`: from samples `f(g)` to `f(g + steps)` of their polynomial; whole steps are the group's permutations.

    The middle frequency of an even order, should there be any, is turned as usual in interpolation: by `cos(pi steps)`.
    """
    samples = np.arange(order) / order
    turns = samples[:, None] + steps / order - samples
    middle = np.cos(np.pi * order * turns) if order % 2 == 0 else 0.0
    return (_kernel(turns, np.ones((order - 1) // 2)) + middle) / order


def _kernel(turns: Matrix, weights: Matrix) -> Matrix:
    """`1 + 2 sum_k weights[k - 1] cos(2 pi k turns)`; Dirichlet's kernel for weights of 1."""
    frequencies = np.arange(1, len(weights) + 1)
    return 1 + 2 * (weights * np.cos(2 * np.pi * turns[..., None] * frequencies)).sum(-1)


def whole(value: Any) -> bool:
    """Whether `value` is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
