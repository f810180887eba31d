"""GroupActivation: nonlinearities that commute with every rotation, up to the aliasing that their points leave."""

import copy

import pytest
import torch
from torch import nn

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupActivation, GroupMaxPool2d, Interpolate, Planar, Project
from t3cen.testing import equivariance_error, interpolated

GROUPS = [(5,), (4,), (3, 3), (1, 5, 3)]
ANGLES = [0.31, -1.77]

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated")  # of functorch itself


class Square(nn.Module):
    """A polynomial of degree 2: twice the band, exactly."""

    def forward(self, f):
        return f * f + 0.3 * f


def function(orders, batch=3, channels=2, dtype=torch.float64):
    group = CyclicProduct(*orders)
    noise = torch.randn(batch, group.order, channels, 4, 4, dtype=dtype, generator=torch.Generator().manual_seed(0))
    return group, Project(group, 1)(noise)


def error(layer, group, f):
    elements = [[angle] * len(group.orders) for angle in ANGLES]
    action = interpolated(group)
    return equivariance_error(layer, group, f, act_input=action, act_output=action, elements=elements).worst


@pytest.mark.parametrize("orders", GROUPS)
def test_a_polynomial_is_exact_once_the_points_hold_it(orders):
    group, f = function(orders)
    assert error(GroupActivation(Square(), group, 2), group, f) < 1e-13
    assert error(Square(), group, f) > 1e-2


@pytest.mark.parametrize("orders", [(5,), (9,), (3, 3)])
@pytest.mark.parametrize("nonlinearity", [nn.ReLU(), nn.GELU(), Planar(nn.MaxPool2d(2))], ids=str)
def test_the_error_falls_with_the_points(orders, nonlinearity):
    group, f = function(orders)
    errors = [error(GroupActivation(copy.deepcopy(nonlinearity), group, points), group, f) for points in (1, 3, 9)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    assert errors[1] < 0.02


@pytest.mark.parametrize("orders", GROUPS)
def test_the_result_is_in_the_band_and_whole_steps_are_exact(orders):
    group, f = function(orders)
    layer = GroupActivation(nn.ReLU(), group)
    torch.testing.assert_close(Project(group, 1)(layer(f)), layer(f), rtol=0, atol=1e-13)
    for element in group.elements():
        torch.testing.assert_close(layer(group.act(f, element)), group.act(layer(f), element), rtol=0, atol=1e-13)


def test_many_points_approach_the_projection_of_the_nonlinearity_itself():
    group, f = function((5,))
    limit = GroupActivation(nn.ReLU(), group, 80)(f)
    distance = [(GroupActivation(nn.ReLU(), group, points)(f) - limit).abs().max().item() for points in (2, 4, 8)]
    assert distance[0] > 2 * distance[1] > 4 * distance[2]


def test_one_point_of_an_odd_order_is_the_nonlinearity_itself():
    group, f = function((5, 3))
    torch.testing.assert_close(GroupActivation(nn.ReLU(), group, 1)(f), f.relu(), rtol=0, atol=1e-13)


def test_the_trivial_group_is_left_alone():
    f = torch.randn(2, 1, 3, 4, 4)
    assert torch.equal(GroupActivation(nn.ReLU(), CyclicProduct(1, 1))(f), f.relu())


@pytest.mark.parametrize("nonlinearity", [nn.ReLU(inplace=True), nn.PReLU(), Planar(nn.MaxPool2d(2))], ids=str)
def test_the_input_stays_and_gradients_are_finite(nonlinearity):
    group, f = function((5,))
    f.requires_grad_()
    layer = GroupActivation(copy.deepcopy(nonlinearity), group).double()
    inputs = [f, *layer.parameters()]
    assert all(torch.isfinite(g).all() and g.any() for g in torch.autograd.grad(layer(f).square().sum(), inputs))
    assert f.detach().equal(function((5,))[1])


def test_other_nonlinearities_are_those_of_the_points():
    group, f = function((5,))
    layer = GroupActivation(nn.LeakyReLU(0.1, inplace=True), group).double()
    torch.testing.assert_close(layer(f), Project(group, 3)(nn.functional.leaky_relu(Interpolate(group, 3)(f), 0.1)))


def test_second_derivatives():
    group, f = function((3,), batch=1, channels=1)
    layer = GroupActivation(nn.GELU(), group)
    assert torch.autograd.gradgradcheck(layer, f[..., :2, :2].clone().requires_grad_())


def test_parameters_learn_where_the_input_does_not():
    group, f = function((5,))
    layer = GroupActivation(nn.PReLU(), group).double()
    layer(f).sum().backward()
    assert layer.nonlinearity.weight.grad.abs() > 0


def test_only_the_input_is_kept_for_the_backward_pass():
    group, f = function((5,))
    f.requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        GroupActivation(nn.ReLU(), group)(f)
    assert [t.shape for t in kept] == [f.shape]


def test_half_precision_is_rounded_only_at_the_end():
    group, f = function((5,))
    layer = GroupActivation(nn.ReLU(), group)
    got = layer(f.bfloat16())
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got.float(), layer(f.bfloat16().float()), rtol=2**-8, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_parameters_in_half_precision_are_used_in_single(dtype):
    group, f = function((3,), dtype=torch.float32)
    half, single = (GroupActivation(nn.PReLU(init=0.125), group) for _ in range(2))
    half.to(dtype)
    x = f.to(dtype).requires_grad_()
    exact = x.detach().float().requires_grad_()
    out, want = half(x), single(exact)
    assert out.dtype == dtype
    assert torch.equal(out, want.to(dtype))
    out.float().square().sum().backward()
    want.square().sum().backward()
    torch.testing.assert_close(x.grad.float(), exact.grad, rtol=2e-2, atol=2e-2)
    torch.testing.assert_close(half.nonlinearity.weight.grad.float(), single.nonlinearity.weight.grad, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("orders", [(3,), (1, 3), (3, 5)], ids=str)
def test_an_empty_batch_stays_empty(orders):
    group, f = function(orders, dtype=torch.float32)
    layer, empty = GroupActivation(nn.PReLU(), group), f[:0].requires_grad_()
    out = layer(empty)
    assert out.shape == empty.shape
    out.sum().backward()
    assert empty.grad.shape == empty.shape
    assert layer.nonlinearity.weight.grad == 0


@pytest.mark.parametrize("layer", [nn.ReLU(), nn.GELU(), None], ids=str)
def test_compilers_and_torch_func(layer):
    group, f = function((5,))
    layer = GroupMaxPool2d(2, group) if layer is None else GroupActivation(layer, group)
    layer.double()
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(f), layer(f))
    each = torch.stack([torch.func.grad(lambda f: layer(f[None]).square().sum())(one) for one in f])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(lambda f: layer(f[None]).square().sum()))(f), each)
    _, tangent = torch.func.jvp(layer, (f,), (f,))
    torch.testing.assert_close(tangent, (layer(f + 1e-6 * f) - layer(f - 1e-6 * f)) / 2e-6, rtol=1e-6, atol=1e-6)


def test_wrong_use_says_what_is_allowed():
    group, f = function((5,))
    with pytest.raises(ValueError, match=r"4 group entries.*5 expected"):
        GroupActivation(nn.ReLU(), group)(f[:, :4])
    with pytest.raises(ValueError, match="points must be a whole number >= 1, got 0"):
        GroupActivation(nn.ReLU(), group, 0)
    with pytest.raises(ValueError, match="order 3 or more"):
        GroupActivation(nn.ReLU(), CyclicProduct(2))


def test_relu_is_no_module_that_somebody_could_hook():
    layer = GroupActivation(nn.ReLU(), CyclicProduct(3))
    assert not any(isinstance(module, nn.ReLU) for module in layer.modules())
    assert torch.equal(GroupActivation(nn.ReLU(), CyclicProduct(1))(torch.tensor([[[-1.0, 2.0]]])), torch.tensor([[[0.0, 2.0]]]))
