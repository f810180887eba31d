"""Matrices as products of sparse ones."""

import functools

import numpy as np
import pytest

from t3cen.algebra.bilinear import cyclic_convolution
from t3cen.algebra.sparse_factors import factors
from t3cen.ops.cpu.straight_line import program

GROUPS = [
    (), (1,), (2,), (3,), (4,), (5,), (6,), (7,), (8,), (9,), (12,), (16,), (1, 4), (2, 2), (3, 3), (4, 4), (3, 5), (2, 3, 4),
    (8, 8), (4, 1, 4), (3, 3, 3), (4, 4, 4), (2, 2, 2, 2), (8, 4, 4),
]  # fmt: skip


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", ["signal", "filters", "output", "reversed_filters"])
@pytest.mark.parametrize("orders", GROUPS)
def test_product_is_the_matrix(orders, name, transposed):
    matrix = getattr(cyclic_convolution(orders), name)
    product = functools.reduce(lambda before, factor: factor @ before, factors(orders, name, transposed))
    np.testing.assert_allclose(product, matrix.T if transposed else matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["signal", "filters"])
@pytest.mark.parametrize("orders", [(2,), (4,), (4, 4), (4, 4, 4), (2, 4)])
def test_small_orders_only_add(orders, name):
    entries = {float(abs(x)) for factor in factors(orders, name) for x in factor.ravel()}
    assert entries <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("orders", "most"), [((4,), 7), ((8,), 23), ((3, 3), 34), ((4, 4), 60), ((3, 3, 3), 159), ((4, 4, 4), 372), ((8, 8), 404)]
)
def test_few_additions(orders, most):
    matrix = cyclic_convolution(orders).signal
    additions = program(factors(orders, "signal")).additions
    assert additions <= most
    assert additions < np.count_nonzero(matrix) - len(matrix)  # those of the dense matrix


@pytest.mark.parametrize("orders", [(3,), (4,), (2, 3)])
def test_reversed_filters_correlate(orders):
    signal, _, output, filters = cyclic_convolution(orders)
    f, w = np.random.default_rng(0).standard_normal((2, *orders))
    axes = tuple(range(len(orders)))
    expected = np.fft.ifftn(np.fft.fftn(f, axes=axes) * np.fft.fftn(w, axes=axes).conj(), axes=axes).real
    found = output @ ((filters @ w.ravel()) * (signal @ f.ravel()))
    np.testing.assert_allclose(found, expected.ravel(), rtol=0, atol=1e-12)


def test_transposes_cost_at_most_what_the_difference_of_sizes_does():
    there, back = (program(factors((4, 4, 4), "signal", transposed)).additions for transposed in (False, True))
    assert back <= there + 92 - 64
