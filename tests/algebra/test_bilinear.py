"""The bilinear algorithm is the convolution of the group, with the fewest products."""

import pytest
import torch

from t3cen.algebra.bilinear import cyclic_convolution
from t3cen.ops.direct import differences


@pytest.mark.parametrize(
    ("orders", "rank"),
    [
        ((), 1),
        ((1,), 1),
        ((2,), 2),
        ((3,), 4),
        ((4,), 5),
        ((8,), 11),
        ((16,), 23),
        ((4, 4), 22),
        ((4, 4, 4), 92),
        ((2, 3, 4), 34),
    ],
)
def test_number_of_products(orders, rank):
    assert cyclic_convolution(orders).rank == rank


@pytest.mark.parametrize("orders", [(1,), (2,), (3,), (7,), (2, 3, 4), (4, 4, 4)])
def test_algorithm_is_the_convolution_tensor(orders):
    algorithm = cyclic_convolution(orders)
    table = differences(orders)
    # tensor[a, b, c] is 1 where c = a - b.
    wanted = torch.nn.functional.one_hot(table, len(table)).double()
    signal, filters, output = map(torch.tensor, algorithm[:3])
    assert (torch.einsum("ar,rb,rc->abc", output, signal, filters) - wanted).abs().max() < 1e-14


def test_small_orders_need_only_halves():
    for orders in ((2,), (4,), (4, 4), (2, 4, 4)):
        for matrix in cyclic_convolution(orders)[:2]:
            assert set(abs(matrix).flatten()) <= {0, 1, 2}
