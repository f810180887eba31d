"""Convolution on a product of cyclic groups as a bilinear algorithm with the fewest products."""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


class Algorithm(NamedTuple):
    """`(f * psi)(a) = sum_b f(b) psi(a - b)` written as `output @ ((filters @ psi) * (signal @ f))`.

    `signal` and `filters` are `(R, G)`, `output` is `(G, R)`, all real; `R` is the number of products. `reversed_filters` takes
    filters read backwards, `psi(-b)`, which makes a correlation, `sum_b f(b) psi(b - a)`, of the convolution.
    """

    signal: Matrix
    filters: Matrix
    output: Matrix
    reversed_filters: Matrix

    @property
    def rank(self) -> int:
        return self.signal.shape[0]


@functools.cache
def cyclic_convolution(orders: tuple[int, ...]) -> Algorithm:
    """The Fourier transform over the group, in real numbers, with Gauss's three-product complex multiplication.

    A frequency that is its own conjugate needs one product. A conjugate pair needs one complex product, which Gauss's
    trick makes of three real ones: `(a + ib)(c + id) = [c(a+b) - b(c+d)] + i[c(a+b) + a(d-c)]`. The additions before
    and after are folded into the matrices. The rank `R = 2 G - (number of real and complex factors)` is the least any
    bilinear algorithm over the reals can have (Alder and Strassen, 1981): 5 for C4, 22 for C4 x C4, 92 for C4 x C4 x C4.
    """
    elements = list(itertools.product(*map(range, orders)))
    size = len(elements)
    signal, filters, output = [], [], []
    for k in elements:
        conjugate = tuple(-i % n for i, n in zip(k, orders, strict=True))
        if conjugate < k:
            continue
        cos, sin = character(k, elements, orders)
        if conjugate == k:
            signal.append(cos)
            filters.append(cos)
            output.append(cos / size)
            continue
        # The transform is sum_g f(g) exp(-i phase): real part with cos, imaginary part with -sin. The inverse adds the
        # pair's two equal real parts: 2 (Re cos - Im sin) / G.
        signal += [cos - sin, cos, -sin]
        filters += [cos, -sin - cos, cos - sin]
        output += [2 * (cos - sin) / size, -2 * sin / size, -2 * cos / size]
    place = {g: i for i, g in enumerate(elements)}
    backwards = [place[tuple(-i % n for i, n in zip(g, orders, strict=True))] for g in elements]
    return Algorithm(np.stack(signal), np.stack(filters), np.stack(output, axis=1), np.stack(filters)[:, backwards])


def character(k: tuple[int, ...], elements: list[tuple[int, ...]], orders: tuple[int, ...]) -> tuple[Matrix, Matrix]:
    """Cosine and sine of `2 pi sum_i k_i g_i / n_i` for every element `g`, exact where they are 0, 1/2 or 1."""
    period = math.lcm(*orders) if orders else 1
    turns = [sum(i * j * (period // n) for i, j, n in zip(k, g, orders, strict=True)) % period for g in elements]
    angle = 2 * np.pi * np.array(turns) / period
    return snap(np.cos(angle)), snap(np.sin(angle))


def snap(values: Matrix) -> Matrix:
    halves = np.round(2 * values) / 2
    return np.where(np.abs(values - halves) < 1e-12, halves, values)
