"""ReLU by its cell averages: how much less they fold than its values, alone and as max-pooling."""

import pytest
import torch
from torch import nn

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupActivation, GroupMaxPool2d, Project
from t3cen.testing import equivariance_error, interpolated

ANGLES = [0.31, -1.77, 0.5]


class Sampled(nn.ReLU):
    """ReLU that is not known by its type, and so is evaluated at the points."""


def function(orders, size=4, dtype=torch.float64):
    group = CyclicProduct(*orders)
    noise = torch.randn(2, group.order, 3, size, size, dtype=dtype, generator=torch.Generator().manual_seed(0))
    return group, Project(group, 1).to(dtype)(noise)


def error(layer, group, f):
    elements = [[angle] * len(group.orders) for angle in ANGLES]
    action = interpolated(group)
    return equivariance_error(layer, group, f, act_input=action, act_output=action, elements=elements).worst


@pytest.mark.parametrize("orders", [(5,), (4,), (3, 3), (3, 1, 5)])
@pytest.mark.parametrize("points", [2, 3])
def test_a_positive_function_comes_back_and_a_negative_one_vanishes(orders, points):
    group, f = function(orders)
    above = f + f.abs().amax(1, keepdim=True) * 4 + 1
    layer = GroupActivation(nn.ReLU(), group, points)
    torch.testing.assert_close(layer(above), above)
    assert layer(-above).abs().max() < 1e-12


@pytest.mark.parametrize("orders", [(5,), (9,), (4,), (3, 3), (3, 3, 3)])
@pytest.mark.parametrize(("points", "better"), [(2, 2.5), (3, 4)])
def test_they_commute_better_than_the_values_at_as_many_points(orders, points, better):
    group, f = function(orders)
    by_averages, by_values = GroupActivation(nn.ReLU(), group, points), GroupActivation(Sampled(), group, points)
    assert not by_values.averages
    assert better * error(by_averages, group, f) < error(by_values, group, f)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_max_pooling_of_constant_functions_is_max_pooling(size):
    group = CyclicProduct(5)
    planes = torch.randn(2, 1, 3, 7, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    got = GroupMaxPool2d(size, group)(planes.expand(2, 5, 3, 7, 8))
    want = nn.functional.max_pool2d(planes[:, 0], size)
    torch.testing.assert_close(got, want[:, None].expand_as(got), rtol=0, atol=1e-13)


def test_max_pooling_approaches_the_maximum_kept_in_the_band():
    group, f = function((5,))
    rows, columns = (GroupActivation(Sampled(), group, 400) for _ in range(2))
    a, b = f[..., ::2], f[..., 1::2]
    f_rows = b + rows(a - b)
    limit = f_rows[..., 1::2, :] + columns(f_rows[..., ::2, :] - f_rows[..., 1::2, :])
    distance = [(GroupMaxPool2d(2, group, points)(f) - limit).abs().max().item() for points in (2, 4, 8)]
    assert distance[0] > 3 * distance[1] > 9 * distance[2]


@pytest.mark.parametrize("orders", [(5,), (3, 3)])
def test_max_pooling_commutes_with_every_angle(orders):
    group, f = function(orders)
    errors = [error(GroupMaxPool2d(2, group, points), group, f) for points in (2, 3, 9)]
    assert errors[0] < 2e-2
    assert errors[0] > 2 * errors[1] > 8 * errors[2]


def test_max_pooling_says_what_is_allowed():
    group, f = function((5,))
    with pytest.raises(ValueError, match="kernel_size must be a whole number >= 1, got 0"):
        GroupMaxPool2d(0, group)
    with pytest.raises(ValueError, match=r"\(2, 5, 3, 4, 4\).*at least 5"):
        GroupMaxPool2d(5, group)(f)
    with pytest.raises(ValueError, match=r"B, G, C, H, W"):
        GroupMaxPool2d(2, group)(f[0])
