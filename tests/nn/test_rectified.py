"""ReLU by its means along straight pieces: what they are, compiled or not, and how much less they fold."""

import numpy as np
import pytest
import torch
from torch import nn

from t3cen.algebra.band import fine_orders
from t3cen.groups import CyclicProduct
from t3cen.nn import GroupActivation, GroupMaxPool2d, Project
from t3cen.ops.cpu import kernels
from t3cen.ops.cpu.relu import Rectified, means
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


def test_a_mean_is_that_of_many_values_along_the_piece():
    values = torch.randn(3, 7, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    values[0, 2:4] = 0
    places = (torch.arange(20000, dtype=torch.float64) + 0.5) / 20000
    along = torch.lerp(values[..., None], values.roll(-1, 1)[..., None], places)
    torch.testing.assert_close(means(values, (7,)), along.relu().mean(-1), rtol=0, atol=1e-8)


def test_on_two_axes_both_diagonals_of_a_cell_are_averaged():
    values = torch.randn(1, 12, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    got, grid = means(values, (1, 3, 4)).view(3, 4, 2), values.view(3, 4, 2)
    for row, column in np.ndindex(3, 4):
        corners = [grid[(row + i) % 3, (column + j) % 4] for i, j in ((0, 0), (1, 1), (0, 1), (1, 0))]
        pairs = [means(torch.stack(pair)[None], (2,))[0, 0] for pair in (corners[:2], corners[2:])]
        torch.testing.assert_close(got[row, column], sum(pairs) / 2)


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
    by_means, by_values = GroupActivation(nn.ReLU(), group, points), GroupActivation(Sampled(), group, points)
    assert not by_values.rectifies
    assert better * error(by_means, group, f) < error(by_values, group, f)


@pytest.mark.parametrize(
    ("orders", "points"), [((5,), 2), ((5,), 3), ((4,), 3), ((9,), 2), ((3, 3), 3), ((1, 5, 3), 2), ((3, 3, 3), 2)]
)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.float64, 1e-13)])
def test_compiled_equals_plain_operations_forwards_and_backwards(orders, points, dtype, tolerance, compiled):
    group, f = function(orders, 32, dtype)
    f[0, :, 0] = 0
    f.requires_grad_()
    layer = GroupActivation(nn.ReLU(), group, points).to(dtype)
    gradient = torch.randn(f.shape, dtype=dtype, generator=torch.Generator().manual_seed(1))
    for backward in (False, True):
        assert kernels.find(Rectified(tuple(orders), points, backward), f.flatten(2)) is not None
    got, want = layer(f), layer.whole(f)
    scale = float(want.detach().abs().max())
    torch.testing.assert_close(got, want, rtol=0, atol=tolerance * scale)
    of_got, of_want = (torch.autograd.grad(out, f, gradient)[0] for out in (got, want))
    torch.testing.assert_close(of_got, of_want, rtol=0, atol=10 * tolerance * float(of_want.abs().max()))


def test_the_largest_program_that_is_compiled(compiled):
    assert Rectified((3, 3, 3), 3, True).routine().additions <= Rectified((3, 3, 3), 3).most_additions
    with pytest.raises(kernels.native.UnavailableError, match="additions, 6000 are allowed"):
        kernels.find(Rectified((5, 5, 5), 3), torch.zeros(1, 125, 400))
    kernels.use("auto")
    layer = GroupActivation(nn.ReLU(), CyclicProduct(5, 5, 5), 3)
    big = torch.randn(1, 125, 2, 4, 4)
    torch.testing.assert_close(layer(big), layer.whole(big))


def test_gradient_from_another_layout_and_in_half_precision(compiled):
    group, f = function((5,), 32, torch.float32)
    layer = GroupActivation(nn.ReLU(), group)
    strided = f.transpose(-1, -2).contiguous().transpose(-1, -2).requires_grad_()
    layer(strided).sum().backward()  # the gradient of a sum has strides of 0
    straight = f.clone().requires_grad_()
    layer.whole(straight).sum().backward()
    torch.testing.assert_close(strided.grad, straight.grad)
    half, single = (f.bfloat16().to(dtype).requires_grad_() for dtype in (torch.bfloat16, torch.float32))
    out = layer(half)
    out.float().sum().backward()
    layer(single).sum().backward()
    assert (out.dtype, half.grad.dtype) == (torch.bfloat16, torch.bfloat16)
    torch.testing.assert_close(half.grad.float(), single.grad, rtol=2**-7, atol=0)


def test_a_gradient_whose_memory_says_something_else_is_left_to_pytorch(compiled):
    """One that is lazily negated, as an imaginary part may be."""
    group, f = function((5,), 32, torch.float32)
    f.requires_grad_()
    layer = GroupActivation(nn.ReLU(), group)
    gradient = torch.randn(f.shape, generator=torch.Generator().manual_seed(1))
    negated = torch._neg_view(-gradient)
    assert negated.is_neg()
    got, want = (torch.autograd.grad(layer(f), f, g)[0] for g in (negated, gradient))
    torch.testing.assert_close(got, want)


def test_the_derivative_is_exact():
    group, f = function((3, 3), 1)
    assert torch.autograd.gradcheck(GroupActivation(nn.ReLU(), group), f[:1].clone().requires_grad_())
    assert torch.autograd.gradgradcheck(GroupActivation(nn.ReLU(), group), f[:1].clone().requires_grad_())


def test_what_is_not_a_number_is_not_made_one(compiled):
    group, f = function((5,), 32, torch.float32)
    f[0, 1, 0, 0, 0] = float("nan")
    out = GroupActivation(nn.ReLU(), group)(f)
    assert out[0, :, 0, 0, 0].isnan().all()
    assert out.isnan().sum() == group.order


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


def test_fine_orders():
    assert fine_orders((1, 5, 3), 2) == (1, 10, 6)
    with pytest.raises(ValueError, match="points must be"):
        fine_orders((5,), 0)
