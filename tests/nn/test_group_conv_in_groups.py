"""GroupConv2d with channels in groups: nn.Conv2d at order 1, the layers of each group side by side, both backends."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.nn import GroupConv2d
from t3cen.ops import kernels
from t3cen.ops.transform import rank

ORDERS = (3, 2)
CASES = [(4, 6, 2), (4, 4, 4), (3, 6, 3), (12, 24, 2)]


def layer(channels, orders=ORDERS, *, backend="fourier", dtype=torch.float64, **options):
    torch.manual_seed(0)
    inputs, outputs, groups = channels
    options = {"kernel_size": 3, "padding": 1, **options}
    return GroupConv2d(inputs, outputs, group=CyclicProduct(*orders), groups=groups, backend=backend, **options).to(dtype)


def function(channels, orders=ORDERS, dtype=torch.float64, batch=2):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, torch.Size(orders).numel(), channels, 6, 5, dtype=dtype, generator=generator)


def relative(got, want):
    return ((got - want).abs().max() / want.abs().max()).item()


@pytest.mark.parametrize("backend", ["direct", "fourier"])
@pytest.mark.parametrize("channels", CASES, ids=str)
@pytest.mark.parametrize("options", [{}, {"stride": 2, "dilation": 2, "bias": False}], ids=str)
def test_is_conv2d_at_order_one(channels, options, backend):
    conv = layer(channels, (1, 1), backend=backend, **options)
    inputs, outputs, groups = channels
    plain = nn.Conv2d(inputs, outputs, **{"kernel_size": 3, "padding": 1, **options}, groups=groups).double()
    plain.load_state_dict({name: value.view_as(plain.state_dict()[name]) for name, value in conv.state_dict().items()})
    x = function(inputs, (1, 1))
    torch.testing.assert_close(conv(x)[:, 0], plain(x[:, 0]))


@pytest.mark.parametrize("backend", ["direct", "fourier"])
@pytest.mark.parametrize("channels", CASES, ids=str)
def test_each_group_of_channels_is_a_layer_of_its_own(channels, backend):
    conv, (inputs, outputs, groups) = layer(channels, backend=backend), channels
    x = function(inputs)
    apart = []
    for part, weight, bias in zip(x.chunk(groups, 2), conv.weight.chunk(groups), conv.bias.chunk(groups), strict=True):
        alone = layer((inputs // groups, outputs // groups, 1), backend="direct")
        alone.load_state_dict({"weight": weight, "bias": bias})
        apart.append(alone(part))
    assert relative(conv(x), torch.cat(apart, 2)) < 1e-13


@pytest.mark.parametrize("mode", ["on", "off"])
@pytest.mark.parametrize("kernel", [{}, {"stride": 2}, {"kernel_size": 1, "padding": 0}, {"kernel_size": 5}], ids=str)
@pytest.mark.parametrize("channels", CASES, ids=str)
def test_every_kernel_agrees_with_the_definition_and_its_gradients(channels, kernel, mode, monkeypatch):
    monkeypatch.setattr(kernels, "_chosen", [mode])
    found = []
    for backend in ("direct", "fourier"):
        conv = layer(channels, backend=backend, dtype=torch.float32, **kernel)
        x = function(channels[0], dtype=torch.float32).requires_grad_()
        out = conv(x)
        grads = torch.autograd.grad((out * out.detach().cos()).sum(), [x, conv.weight, conv.bias])
        found.append([out.detach(), *grads])
        with torch.no_grad():
            found[-1].append(conv(x))
    assert max(relative(f, d) for d, f in zip(*found, strict=True)) < 1e-5


def test_second_derivatives():
    conv = layer((2, 2, 2), (3,), kernel_size=2, padding=0)
    x = function(2, (3,), batch=1)[..., :2, :2].requires_grad_()
    assert torch.autograd.gradgradcheck(conv, x)


def test_commutes_with_the_group():
    conv, x = layer((4, 4, 4)), function(4)
    act = conv.group.act
    assert relative(conv(act(x, (2, 1))), act(conv(x), (2, 1))) < 1e-13
    assert relative(conv(act(x, (2, 1))), conv(x)) > 1e-2


def test_counts_what_it_computes():
    conv, x = layer((4, 8, 2), bias=False), function(4)
    with FlopCounterMode(display=False) as counter:
        conv(x)
    rows, places, batch, size = rank(ORDERS), 30, 2, 6
    products, transforms = rows * 8 * 2 * 9 * places * batch, rows * size * (4 + 8) * places * batch
    filters = rows * size * 8 * 2 * 9
    assert counter.get_total_flops() == 2 * (products + transforms + filters)


def test_initialisation_is_conv2ds():
    torch.manual_seed(3)
    plain = nn.Conv2d(4 * 6, 8, 3, groups=2)
    torch.manual_seed(3)
    conv = GroupConv2d(4, 8, 3, ColorGroup(2, 3), groups=2)
    assert conv.weight.shape == (8, 2, 2, 3, 1, 3, 3)
    assert torch.equal(conv.weight.flatten(), plain.weight.flatten())


@pytest.mark.parametrize(("channels", "name"), [((3, 4, 2), "in_channels"), ((4, 3, 2), "out_channels")])
def test_channels_must_divide(channels, name):
    with pytest.raises(ValueError, match=f"groups must divide {name}, got 2 groups and 3 channels"):
        layer(channels)


def test_what_it_says():
    assert "groups=2" in repr(layer((4, 4, 2)))
