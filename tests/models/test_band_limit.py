"""Networks that commute with every angle: exactly for polynomials, nearly with ReLU, where discrete ones do not."""

import pytest
import torch
from torch import nn

from t3cen.models import build
from t3cen.models.families import FAMILIES, accepting
from t3cen.models.registry import ARCHITECTURES
from t3cen.nn import GroupActivation, GroupBatchNormAct2d
from t3cen.testing import interpolated, network_error

ANGLES = (0.31, -1.77, 0.5)  # in steps
SIZE = {"z2cnn": 28}


def images(name="resnet18", count=2, seed=0, dtype=torch.float64):
    size = SIZE.get(name, 8)
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def trained(network, name="resnet18", steps=3, lr=0.005):
    """A few optimiser steps, so that weights and running statistics are not the initial ones."""
    optimizer = torch.optim.SGD(network.parameters(), lr)
    dtype = next(network.parameters()).dtype
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network.train()(images(name, 4, step, dtype)), torch.tensor([0, 1, 2, 3]))
        loss.backward()
        optimizer.step()
    return network.eval()


def small(group, name="resnet18", band_limit=True, width=8, **options):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return build(name, group, 5, width=width, band_limit=band_limit, **options)


def worst(network, name="resnet18", output="features", dtype=torch.float32, angles=ANGLES):
    group = network.lifting.group
    elements = [[angle if order > 1 else 0 for order in group.orders] for angle in angles]
    action = interpolated(group) if output == "features" else None
    return network_error(network, images(name, dtype=dtype), elements=elements, output=output, act_output=action).worst


class Square(nn.Module):
    """A polynomial, so that no aliasing is left."""

    def forward(self, f):
        return 0.1 * f * f + f


def with_squares(network, points):
    """The same network with a polynomial in place of every ReLU."""
    for module in network.modules():
        for name, child in module.named_children():
            if isinstance(child, GroupActivation):
                setattr(module, name, GroupActivation(Square(), child.group, points))
    return network


@pytest.mark.parametrize(("group", "points"), [("h5", 2), ("s5", 2), ("l4", 2), ("h3s3", 2), ("h5", 4)])
def test_polynomial_networks_are_exact_at_every_angle(group, points):
    network = with_squares(small(group).double(), points)
    assert worst(network.eval(), dtype=torch.float64) < 1e-10
    assert worst(trained(network, lr=1e-3), dtype=torch.float64) < 1e-10


def test_a_polynomial_network_with_too_few_points_is_not():
    assert worst(with_squares(small("h5").double(), 1).eval(), dtype=torch.float64) > 1e-3


@pytest.mark.parametrize(
    ("name", "group", "options"),
    [
        ("resnet18", "h5", {}),
        ("resnet18", "s5", {}),
        ("resnet18", "l5", {}),
        ("resnet18", "l5", {"cover": "sine"}),
        ("resnet18", "h4", {}),
        ("resnet18", "l9", {}),
        ("resnet18", "h5", {"family": "t3cen_rgb"}),
        ("z2cnn", "h5", {}),
        ("resnet18", "h5s3", {}),
        ("resnet50", "s5", {}),
        ("resnet44", "l5", {}),
    ],
)
@pytest.mark.fast("random-resnet18-[sl]5-options[13]", "trained-resnet18-h[45]-options[46]", "trained-*-l9-*", "*-z2cnn-*")
@pytest.mark.parametrize("weights", ["random", "trained"])
def test_fractional_error_is_small_and_a_discrete_network_ten_times_worse(name, group, options, weights):
    def measured(band_limit):
        network = small(group, name, band_limit, width=32, **options)
        return worst(trained(network, name) if weights == "trained" else network.eval(), name)

    limited, discrete = measured(True), measured(False)
    assert limited < 3e-3
    assert discrete > 10 * limited


@pytest.mark.parametrize(
    ("name", "group", "width"), [("resnet18", "l3", 16), ("resnet18", "l5", 8), ("z2cnn", "h5", 20), ("resnet18", "h3s3l3", 16)]
)
def test_networks_of_few_frequencies_or_channels_keep_the_bound_at_two_points_a_sample(name, group, width):
    """Weights as initialised, the normalisation still idle, are the worst there are."""
    limited, discrete = (worst(small(group, name, b, width=width).eval(), name) for b in ({"activation": 2}, False))
    assert limited < 1e-2
    assert discrete > 10 * limited


@pytest.mark.parametrize("weights", ["random", "trained"])
def test_error_falls_with_the_points_of_the_activation(weights):
    # Between 1/3 and 1/2 of a step no coarser grid of these has a point, where its error would vanish.
    errors = []
    for points in (1, 3, 9):
        network = small("h5", band_limit={"activation": points})
        errors.append(worst(trained(network) if weights == "trained" else network.eval(), angles=(0.41,)))
    assert errors[0] > 5 * errors[1]
    assert errors[1] > 3 * errors[2]


def test_error_of_a_sampled_lifting_falls_with_its_points():
    networks = (small("l5", band_limit={"lift": points, "activation": 9}).eval() for points in (1, 4, 16))
    errors = [worst(network, angles=(0.41,)) for network in networks]
    assert errors[0] > 3 * errors[1]
    assert errors[1] > errors[2]


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("name", ["resnet18", "z2cnn"])
def test_logits_do_not_change_under_any_angle(name, pool):
    limited = worst(trained(small("l5", name, pool=pool), name), name, "logits")
    discrete = worst(trained(small("l5", name, pool=pool, band_limit=False), name), name, "logits")
    assert limited < 1e-2
    assert discrete > 5 * limited


def test_mean_pooling_of_a_polynomial_network_is_exactly_invariant():
    network = with_squares(small("h5", pool="mean").double(), 2).eval()
    assert worst(network, output="logits", dtype=torch.float64) < 1e-10


@pytest.mark.parametrize("weights", ["random", "trained"])
def test_the_scale_network_is_as_near_as_those_of_colour(weights):
    def measured(band_limit):
        network = small("h5", family="t3cen_scale", band_limit=band_limit)
        return worst(trained(network) if weights == "trained" else network.eval())

    limited, sampled, discrete = measured(True), measured({"lift": 4}), measured(False)
    assert limited < 3e-3
    assert sampled > 3 * limited
    assert discrete > 10 * limited


@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_same_weights_and_finite_gradients(name):
    network, discrete = small("h5", name), small("h5", name, band_limit=False)
    assert {k: v.shape for k, v in network.state_dict().items()} == {k: v.shape for k, v in discrete.state_dict().items()}
    network(images(name, dtype=torch.float32)).square().sum().backward()
    for parameter_name, parameter in network.named_parameters():
        assert torch.isfinite(parameter.grad).all(), parameter_name
        assert parameter.grad.abs().sum() > 0, parameter_name


@pytest.mark.parametrize("name", ["resnet18", "z2cnn"])
def test_the_trivial_group_is_the_discrete_network(name):
    network, discrete = small("", name).eval(), small("", name, band_limit=False).eval()
    assert torch.equal(network(images(name).float()), discrete(images(name).float()))


def test_discrete_networks_hold_no_trace_of_it():
    network = small("h4", band_limit=None)
    assert not any(isinstance(module, GroupActivation) for module in network.modules())
    limited = small("h4")
    norms = [module for module in limited.modules() if isinstance(module, GroupBatchNormAct2d)]
    assert norms
    assert all(isinstance(norm.activation, GroupActivation) for norm in norms)


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - set(accepting("band_limit"))))
def test_families_without_rotations_refuse(family, group):
    with pytest.raises(ValueError, match=f"band_limit needs a group of rotations.*'{family}' has not"):
        build("resnet18", group, 5, family=family, band_limit=True)


def test_order_two_is_refused():
    with pytest.raises(ValueError, match="order 3 or more"):
        small("h2")


def test_logits_have_no_action_of_their_own():
    network = small("h5")
    with pytest.raises(ValueError, match="logits must stay as they are"):
        network_error(network, images().float(), output="logits", act_output=interpolated(network.lifting.group))
