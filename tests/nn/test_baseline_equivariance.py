"""What the paper says of each baseline's equivariance, measured on whole networks."""

import pytest
import torch

from t3cen.groups import ColorGroup
from t3cen.models import build
from t3cen.nn import HSLLifting, LCERConv2d, LCERLifting
from t3cen.nn.baselines.ce_conv import hue_rotations
from t3cen.testing import equivariance_error, invariant, network_error


def images(dtype=torch.float64, size=(2, 3, 10, 9)):
    return torch.rand(size, generator=torch.Generator().manual_seed(0), dtype=dtype)


def network(group, family, **options):
    torch.manual_seed(0)
    net = build("resnet18", group, 4, family=family, width=8, **options).double()
    net.train()
    for _ in range(2):  # running statistics that are not the initial ones
        net(images())
    return net.eval()


@pytest.mark.parametrize("group", ["h3", "h4", "h4s3", "h2l3"])
def test_lcer_is_exact_in_hue(group):
    net = network(group, "lcer")
    hues = [(step, 0, 0) for step in range(net.lifting.group.orders[0])]
    assert network_error(net, images(), elements=hues).worst < 1e-12
    assert network_error(net, images(), elements=hues, output="logits").worst < 1e-12


@pytest.mark.parametrize("group", ["s3", "s5", "h2s3", "l3"])
def test_lcer_is_not_exact_in_saturation_or_luminance(group):
    net = network(group, "lcer")
    element = (0, 0, -1) if net.lifting.group.orders[2] > 1 else (0, -1, 0)
    assert network_error(net, images(), elements=[element]).worst > 0.01


def translated(f, steps):
    """Elements moved along by `steps`, zeros coming in."""
    moved = torch.zeros_like(f)
    if steps < 0:
        moved[:, -steps:] = f[:, :steps]
    else:
        moved[:, : f.shape[1] - steps] = f[:, steps:]
    return moved


def saturation_error(order):
    """Paper: saturation lowered by 1/(M-1), against the features translated with zeros; one hidden layer after the lifting."""
    torch.manual_seed(0)
    group = ColorGroup(1, order)
    lifting = LCERLifting(group)
    layers = torch.nn.Sequential(LCERConv2d(3, 16, 3, group), LCERConv2d(16, 16, 3, group)).double()
    angles = lifting.encode(images())
    error = equivariance_error(
        lambda a: layers(lifting.lift(a)),
        group,
        angles,
        act_input=lifting.act,
        act_output=lambda f, e: translated(f, e[1]),
        elements=[(0, -1, 0)],
    )
    return error.worst


def test_lcer_saturation_error_shrinks_with_the_order_and_stays():
    errors = [saturation_error(order) for order in (3, 7, 15)]
    assert errors[0] > errors[1] > errors[2] > 0.05


@pytest.mark.parametrize("separable", [False, True])
@pytest.mark.parametrize("group", ["h3", "h4"])
def test_ceconv_is_exact_for_its_own_rotation_without_clipping(group, separable):
    # Statistics as CIFAR's: red, green and blue normalised apart would not commute with the rotation.
    net = network(group, "ceconv", separable=separable, mean=(0.49, 0.48, 0.45), std=(0.20, 0.19, 0.21))
    order = int(group[1:])
    rotations = hue_rotations(order)
    trunk = torch.nn.Sequential(net.normalize, net.stem, net.stages)  # past the check of the range, which rotation leaves

    def rotate(x, element):
        return torch.einsum("dc,bchw->bdhw", rotations[element[0]], x)

    error = equivariance_error(lambda x: trunk(x[:, None]), ColorGroup(order), images(), act_input=rotate)
    assert error.worst < 1e-12


def hue_error(family, group, *, moved=True):
    """Of the features, when the hue of the image turns by one step: 1/N (plain: 1/4)."""
    net = network(group, family)
    hue = HSLLifting(ColorGroup(int(group[1:] or 4)))
    error = equivariance_error(
        lambda angles: net.features(hue.decode(angles)),
        hue.group,
        hue.encode(images()),
        act_input=hue.act,
        act_output=None if moved else invariant,
        elements=[(1, 0, 0)],
    )
    return error.worst


@pytest.mark.parametrize("group", ["h4", "h6"])
def test_ceconv_is_approximate_in_hue(group):
    assert 1e-2 < hue_error("ceconv", group) < 0.5 * hue_error("ceconv", group, moved=False)


def test_ceconv_of_order_three_is_exact_in_hue():
    # A third of a turn about the grey axis is red to green to blue, which is a third of a turn of HSL's hue as well.
    assert hue_error("ceconv", "h3") < 1e-12


@pytest.mark.parametrize("family", ["lcer", "t3cen"])
def test_hue_lifting_is_exact_where_ceconv_is_not(family):
    assert hue_error(family, "h4") < 1e-12


@pytest.mark.parametrize("family", ["plain", "gray"])
def test_networks_without_a_group_are_not_equivariant(family):
    assert hue_error(family, "", moved=False) > 0.02
