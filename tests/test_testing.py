"""The equivariance checker: it passes what commutes, fails what does not, and says how far images carry it."""

import itertools
import math

import pytest
import torch
from torch import nn

from t3cen.color import hsl_to_rgb
from t3cen.groups import ColorGroup
from t3cen.nn import GroupBatchNorm2d, GroupConv2d, GroupPool, HSLLifting, IdentityLifting
from t3cen.testing import EquivarianceError, equivariance_error, invariant, network_error, relative_difference

LIMIT = {torch.float32: 5e-6, torch.float64: 1e-12}
GROUPS = ("h3", "h4", "s4", "l4", "h4s4", "s4l4", "h2s3l4", "s5", "l3")


class Tiny(nn.Module):
    """Three group convolutions (an odd depth shows a wrong direction) and a head, on a lifting."""

    def __init__(self, lifting, channels=4):
        super().__init__()
        group = lifting.group
        self.lifting = lifting
        widths = [3, channels, channels, channels]
        self.layers = nn.ModuleList(
            nn.ModuleList([GroupConv2d(a, b, 3, group, padding=1), GroupBatchNorm2d(b)]) for a, b in itertools.pairwise(widths)
        )
        self.pool = GroupPool("max")
        self.classify = nn.Linear(channels, 5)

    def trunk(self, lifted):
        for conv, norm in self.layers:
            lifted = norm(conv(lifted)).relu()
        return lifted

    def head(self, features):
        return self.classify(self.pool(features).mean((-1, -2)))

    def features(self, rgb):
        return self.trunk(self.lifting(rgb))

    def forward(self, rgb):
        return self.head(self.features(rgb))


def images(dtype=torch.float64, size=6, seed=0):
    return torch.rand(2, 3, size, size, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def function_on(group, channels=2, dtype=torch.float64):
    return torch.randn(2, group.order, channels, 5, 5, dtype=dtype, generator=torch.Generator().manual_seed(0))


def tiny(lifting, dtype=torch.float64, steps=2):
    """A network after a few optimiser steps, in evaluation mode."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Tiny(lifting).to(dtype)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(images(dtype, seed=step)), torch.tensor([0, 3])).backward()
        optimizer.step()
    return network.eval()


def test_the_papers_formula_by_hand():
    assert relative_difference(torch.tensor([1.0, -2.0]), torch.tensor([2.0, -1.0])) == pytest.approx(2 / 6)
    assert relative_difference(torch.tensor([1.0]), torch.tensor([-1.0])) == math.inf
    assert relative_difference(torch.tensor([3.0]), torch.tensor([3.0])) == 0


def test_results_that_measure_nothing_are_refused():
    with pytest.raises(ValueError, match="zero everywhere"):
        relative_difference(torch.zeros(3), torch.zeros(3))
    with pytest.raises(ValueError, match="NaN or infinite"):
        relative_difference(torch.tensor([math.nan, 1]), torch.ones(2))
    with pytest.raises(ValueError, match="NaN or infinite"):
        relative_difference(torch.tensor([math.inf, 1]), torch.ones(2))
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\)"):
        relative_difference(torch.ones(2), torch.ones(3))
    group = ColorGroup(hue=3)
    with pytest.raises(ValueError, match="no elements to try"):
        equivariance_error(torch.relu, group, function_on(group), elements=[])


def test_every_element_is_tried_and_the_worst_one_named():
    group = ColorGroup(2, 3, 4)
    error = equivariance_error(torch.relu, group, function_on(group))
    assert list(error.per_element) == list(group.elements())
    assert error.worst == error.mean == 0
    error = EquivarianceError({(0, 0, 0): 0.0, (1, 0, 0): 0.5, (2, 0, 0): 0.25})
    assert (error.worst, error.worst_element, error.mean) == (0.5, (1, 0, 0), 0.25)


@pytest.mark.parametrize("name", GROUPS)
def test_what_is_not_equivariant_fails(name):
    group = ColorGroup.parse(name)
    weight = torch.arange(1.0, group.order + 1, dtype=torch.float64).view(-1, 1, 1, 1)
    error = equivariance_error(lambda f: f * weight, group, function_on(group))
    assert error.worst > 0.05
    assert error.per_element[(0, 0, 0)] == 0
    with torch.random.fork_rng():
        torch.manual_seed(0)
        ordinary = nn.Conv3d(2, 2, (group.order, 1, 1), padding="same", padding_mode="circular").double()
    rolls_flat = equivariance_error(lambda f: ordinary(f.transpose(1, 2)).transpose(1, 2), group, function_on(group))
    cyclic = sum(order > 1 for order in group.orders) == 1  # on one axis this is a group convolution; on two it is not
    assert (rolls_flat.worst < 1e-12) is cyclic


def test_the_wrong_direction_fails_from_order_three_on():
    def reverse(f):
        return f.flip(1)

    assert equivariance_error(reverse, ColorGroup(hue=3), function_on(ColorGroup(hue=3))).worst > 0.1
    opposite = equivariance_error(
        reverse,
        ColorGroup(hue=3),
        function_on(ColorGroup(hue=3)),
        act_output=lambda f, e: ColorGroup(hue=3).act(f, [-x for x in e]),
    )
    assert opposite.worst == 0


def test_two_axes_mixed_up_fail():
    group = ColorGroup(3, 3)
    f = function_on(group)
    assert equivariance_error(lambda f: f.unflatten(1, (3, 3)).transpose(1, 2).flatten(1, 2), group, f).worst > 0.1


@pytest.mark.parametrize("dtype", list(LIMIT))
@pytest.mark.parametrize("name", GROUPS)
def test_a_trained_network_commutes_on_angles_in_both_modes(name, dtype):
    network = tiny(HSLLifting(ColorGroup.parse(name)), dtype)
    for mode in (network.eval, network.train):
        mode()
        assert network_error(network, images(dtype)).worst <= LIMIT[dtype]
        assert network_error(network, images(dtype), output="logits").worst <= LIMIT[dtype]


def test_a_network_with_a_statistic_for_each_element_fails_in_eval():
    """The defect that batch normalisation over (group, channel) has, put into the checker's hands."""
    network = tiny(HSLLifting(ColorGroup(hue=4)))
    shift = torch.arange(4.0, dtype=torch.float64).view(1, 4, 1, 1, 1)
    trunk = network.trunk
    network.trunk = lambda lifted: trunk(lifted + shift)
    assert network_error(network, images()).worst > 1e-2


def test_images_carry_the_action_where_no_sheet_changes_and_only_there():
    network = tiny(HSLLifting(ColorGroup(luminance=4)))
    generator = torch.Generator().manual_seed(0)
    hsl = 0.1 + 0.3 * torch.rand(2, 3, 6, 6, dtype=torch.float64, generator=generator)
    dark = hsl_to_rgb(hsl)  # luminance in [0.1, 0.4]: one step up by 0.5 passes no end
    up = network_error(network, dark, protocol="image", elements=[(0, 0, 1)])
    assert up.worst < 1e-12
    assert up.sheet_changes == {(0, 0, 1): 0}
    assert up.hue_losses == {(0, 0, 1): 0}
    down = network_error(network, dark, protocol="image", elements=[(0, 0, -1)])
    assert down.worst > 1e-2
    assert down.sheet_changes == {(0, 0, -1): 1}
    assert network_error(network, dark, elements=[(0, 0, -1)]).worst < 1e-12  # on angles both are exact
    assert "100.0% of pixels change sheet" in str(down)


def test_hue_through_an_image_is_exact_and_shares_are_zero():
    network = tiny(HSLLifting(ColorGroup(hue=4)))
    error = network_error(network, images(), protocol="image")
    assert error.worst < 1e-12
    assert set(error.sheet_changes.values()) == set(error.hue_losses.values()) == {0}


def test_a_plain_network_is_measured_with_a_lifting_of_its_choice():
    plain = tiny(IdentityLifting())
    lifting = HSLLifting(ColorGroup(hue=4))
    error = network_error(plain, images(), protocol="image", output="logits", lifting=lifting)
    assert list(error.per_element) == list(lifting.group.elements())
    assert error.per_element[(0, 0, 0)] < 1e-12
    assert error.worst > 1e-3


def test_fractions_of_a_step_for_invariance_but_not_for_features():
    network = tiny(HSLLifting(ColorGroup(hue=4)))
    error = network_error(network, images(), protocol="image", output="logits", elements=[(0.5, 0, 0), (1, 0, 0)])
    assert error.per_element[(1, 0, 0)] < 1e-12 < 1e-5 < error.per_element[(0.5, 0, 0)]
    assert error.worst_element == (0.5, 0, 0)
    with pytest.raises(ValueError, match=r"\(0.5, 0, 0\) is no element of ColorGroup"):
        network_error(network, images(), elements=[(0.5, 0, 0)])


def test_own_actions():
    group = ColorGroup(hue=4)
    lifting = HSLLifting(group)
    angles = lifting.encode(images())
    assert equivariance_error(lifting.lift, group, angles, act_input=lifting.act).worst < 1e-12
    assert equivariance_error(GroupPool("mean"), group, function_on(group), act_output=invariant).worst < 1e-12
    assert equivariance_error(lambda f: f[:, 0], group, function_on(group), act_output=invariant).worst > 0.1


def test_no_gradient_is_kept_and_weights_stay():
    group = ColorGroup(hue=3)
    layer = GroupConv2d(2, 2, 3, group).double()
    before = layer.weight.clone()
    x = function_on(group).requires_grad_()
    assert equivariance_error(layer, group, x).worst < 1e-12
    assert torch.equal(layer.weight, before)
    assert layer.weight.grad is x.grad is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"protocol": "pixels"}, "unknown protocol 'pixels'; choose 'angles' or 'image'"),
        ({"output": "maps"}, "unknown output 'maps'; choose 'features' or 'logits'"),
        ({"lifting": HSLLifting(ColorGroup(4))}, "another lifting needs protocol='image'"),
    ],
)
def test_arguments_that_exclude_each_other(arguments, message):
    with pytest.raises(ValueError, match=message):
        network_error(tiny(HSLLifting(ColorGroup(2)), steps=0), images(), **arguments)
