"""CEConv's two layers against the published ones, written out by brute force."""

import copy
import math
import pickle

import pytest
import torch
from torch.nn import functional as F

from t3cen.color import hsl_to_rgb, rgb_to_hsl
from t3cen.groups import ColorGroup
from t3cen.nn import CEConv2d, CELiftingConv2d, GroupConv2d
from t3cen.nn.baselines.ce_conv import hue_rotations

ORDERS = [1, 2, 3, 4, 6]


def backwards(f):
    """The group axis counted the other way round: element g at -g."""
    return f[:, -torch.arange(f.shape[1]) % f.shape[1]]


def published_lifting(x, weight, bias, order, **conv):
    """x `(B, 3, H, W)`; element i uses the filters multiplied i times by the rotation by 360/N degrees."""
    cos, sin = math.cos(2 * math.pi / order), math.sin(2 * math.pi / order)
    a, b = (1 - cos) / 3, sin / math.sqrt(3)
    rotation = torch.tensor([[cos + a, a - b, a + b], [a + b, cos + a, a - b], [a - b, a + b, cos + a]], dtype=x.dtype)
    outputs = []
    for _ in range(order):
        outputs.append(F.conv2d(x, weight, bias, **conv))
        weight = torch.einsum("dc,ochw->odhw", rotation, weight)
    return torch.stack(outputs, 1)


def published_hidden(x, weight, bias, **conv):
    """x `(B, N, C, H, W)`, weight `(O, C, N, k, k)`; element i uses the filters rolled by i along N."""
    filters = [torch.roll(weight, i, 2).transpose(1, 2).flatten(1, 2) for i in range(weight.shape[2])]
    return torch.stack([F.conv2d(x.flatten(1, 2), f, bias, **conv) for f in filters], 1)


@pytest.mark.parametrize("order", ORDERS)
def test_lifting_equals_the_published_layer(order):
    torch.manual_seed(0)
    layer = CELiftingConv2d(3, 4, 3, ColorGroup(order), stride=2, padding=1).double()
    x = torch.rand(2, 3, 7, 6, dtype=torch.float64)
    expected = published_lifting(x, layer.weight, layer.bias, order, stride=2, padding=1)
    torch.testing.assert_close(backwards(layer(x[:, None])), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["direct", "fourier", "auto"])
@pytest.mark.parametrize("separable", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_hidden_equals_the_published_layer(order, separable, backend):
    torch.manual_seed(0)
    layer = CEConv2d(2, 3, 3, ColorGroup(order), padding=1, dilation=2, separable=separable, backend=backend)
    x = torch.randn(2, order, 2, 7, 6)
    weight = layer.weight * layer.pointwise if separable else layer.weight
    expected = published_hidden(backwards(x), weight.flatten(2, 4), layer.bias, padding=1, dilation=2)
    torch.testing.assert_close(backwards(layer(x)), expected, rtol=1e-5, atol=1e-5)


def test_red_turned_by_sixty_degrees():
    red = torch.tensor([1.0, 0, 0], dtype=torch.float64)
    expected = torch.tensor([2 / 3, 2 / 3, -1 / 3], dtype=torch.float64)
    torch.testing.assert_close(hue_rotations(6)[1] @ red, expected)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 12])
def test_rotations_are_rotations_about_grey(order):
    rotations = hue_rotations(order)
    identity = torch.eye(3, dtype=torch.float64)
    torch.testing.assert_close(rotations.sum(-1), torch.ones(order, 3, dtype=torch.float64))
    torch.testing.assert_close(rotations @ rotations.mT, identity.expand(order, 3, 3))
    torch.testing.assert_close(torch.linalg.matrix_power(rotations[1 % order], order), identity)
    torch.testing.assert_close(hue_rotations(3)[1], identity.roll(1, 0))  # red to green to blue


def rotate(x, rotations, steps):
    return torch.einsum("dc,bchw->bdhw", rotations[steps], x)


def two_layers(order, separable, dtype=torch.float64):
    torch.manual_seed(0)
    group = ColorGroup(order)
    lifting = CELiftingConv2d(3, 4, 3, group, padding=1).to(dtype)
    hidden = CEConv2d(4, 5, 3, group, separable=separable).to(dtype)
    return group, lambda x: hidden(lifting(x[:, None]).relu())


@pytest.mark.parametrize("separable", [False, True])
@pytest.mark.parametrize("order", [3, 4, 5])
def test_exact_for_its_own_rotation(order, separable):
    group, features = two_layers(order, separable)
    x = torch.rand(2, 3, 6, 6, dtype=torch.float64)
    for step in range(1, order):
        moved = rotate(x, hue_rotations(order), step)
        assert moved.min() < 0 or order == 3  # outside the RGB cube, not clipped
        torch.testing.assert_close(features(moved), group.act(features(x), (step, 0, 0)), rtol=1e-10, atol=1e-12)


def test_approximate_for_a_hue_shift():
    group, features = two_layers(4, False)
    x = torch.rand(2, 3, 6, 6, dtype=torch.float64)
    hsl = rgb_to_hsl(x)
    hsl[:, 0] = (hsl[:, 0] + 0.25) % 1
    error = (features(hsl_to_rgb(hsl)) - group.act(features(x), (1, 0, 0))).norm()
    unmoved = (features(hsl_to_rgb(hsl)) - features(x)).norm()
    assert error > 1e-3 * features(x).norm()
    assert error < 0.7 * unmoved


def test_full_hidden_layer_is_group_convolution():
    torch.manual_seed(0)
    group = ColorGroup(3)
    layer, cyclic = CEConv2d(2, 3, 3, group), GroupConv2d(2, 3, 3, group)
    cyclic.load_state_dict(layer.state_dict())
    x = torch.randn(1, 3, 2, 5, 5)
    assert torch.equal(layer(x), cyclic(x))


@pytest.mark.parametrize("mode", ["zeros", "reflect", "circular"])
def test_order_one_is_an_ordinary_convolution(mode):
    torch.manual_seed(0)
    lifting = CELiftingConv2d(3, 4, (3, 5), ColorGroup(), padding=(1, 2), padding_mode=mode)
    hidden = CEConv2d(3, 4, (3, 5), ColorGroup(), padding=(1, 2), padding_mode=mode, separable=False)
    plain = torch.nn.Conv2d(3, 4, (3, 5), padding=(1, 2), padding_mode=mode)
    x = torch.randn(2, 1, 3, 7, 9)
    for layer in (lifting, hidden):
        plain.load_state_dict({"weight": layer.weight.view_as(plain.weight), "bias": layer.bias})
        torch.testing.assert_close(layer(x)[:, 0], plain(x[:, 0]))


@pytest.mark.parametrize("again", [False, True])
def test_separable_starts_as_published(again):
    torch.manual_seed(0)
    layer = CEConv2d(16, 32, 3, ColorGroup(3), separable=True)
    before = copy.deepcopy(layer.state_dict())
    if again:
        layer.reset_parameters()
        assert not any(torch.equal(before[name], value) for name, value in layer.state_dict().items())
    bound = 1 / math.sqrt(16 * 3 * 9)
    for weight in (layer.weight, layer.pointwise):
        assert weight.abs().max() <= bound
        assert weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.05)
    assert sum(p.numel() for p in layer.parameters()) == 32 * 16 * (9 + 3) + 32


def test_one_by_one_filters_have_nothing_to_separate():
    layer = CEConv2d(2, 3, 1, ColorGroup(3), separable=True)
    assert set(layer.state_dict()) == {"weight", "bias"}
    assert layer.weight.shape == (3, 2, 3, 1, 1, 1, 1)


def test_every_parameter_gets_a_gradient_and_nothing_else_is_saved():
    group = ColorGroup(3)
    lifting, hidden = CELiftingConv2d(3, 2, 3, group), CEConv2d(2, 3, 3, group, separable=True)
    hidden(lifting(torch.rand(1, 1, 3, 6, 6))).square().sum().backward()
    for parameter in (*lifting.parameters(), *hidden.parameters()):
        assert parameter.grad.isfinite().all()
        assert parameter.grad.abs().sum() > 0
    assert set(lifting.state_dict()) == {"weight", "bias"}
    assert set(hidden.state_dict()) == {"weight", "bias", "pointwise"}


def test_rotations_keep_the_precision_of_the_weights():
    layer = CELiftingConv2d(3, 2, 3, ColorGroup(3)).float().double()
    torch.testing.assert_close(layer.rotations, hue_rotations(3), rtol=0, atol=1e-15)


def test_copies_and_pickles():
    layer = CELiftingConv2d(3, 2, 3, ColorGroup(4))
    x = torch.rand(1, 1, 3, 5, 5)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        torch.testing.assert_close(other(x), layer(x))


@pytest.mark.parametrize("orders", [(1, 3, 1), (3, 1, 3)])
@pytest.mark.parametrize("layer", [CEConv2d, CELiftingConv2d])
def test_knows_hue_alone(layer, orders):
    with pytest.raises(ValueError, match="CEConv is equivariant to hue alone"):
        layer(3, 4, 3, ColorGroup(*orders))


def test_lifts_rgb_images_only():
    with pytest.raises(ValueError, match="3 input channels; got 1"):
        CELiftingConv2d(1, 4, 3, ColorGroup(3))
    with pytest.raises(ValueError, match=r"\(B, 1, 3, H, W\) expected .* got \(2, 3, 5, 5\)"):
        CELiftingConv2d(3, 4, 3, ColorGroup(3))(torch.rand(2, 3, 5, 5))
