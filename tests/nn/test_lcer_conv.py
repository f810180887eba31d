"""LCER's convolution against the published layer, written out by brute force."""

import copy
import pickle

import pytest
import torch
from torch.nn import functional as F

from t3cen.groups import ColorGroup
from t3cen.nn import GroupConv2d, LCERConv2d

GROUPS = ["h1", "h3", "h4", "s3", "s5", "l3", "h4s3", "h3s5", "h2l3"]


def published(x, weight, **conv):
    """The published layer: x `(B, N*M, C, H, W)`, weight `(O, N, M, C, k, k)`, output `(B, N*M, O, H', W')`."""
    _, hues, steps, *_ = weight.shape
    outputs = []
    for i in range(hues):
        for j in range(steps):
            bank = torch.zeros_like(weight)
            shift = j - steps // 2
            for a in range(hues):
                for b in range(steps):
                    if 0 <= b - shift < steps:
                        bank[:, a, b] = weight[:, (a - i) % hues, b - shift]
            bank = bank / ((steps - abs(shift)) / steps)
            outputs.append(F.conv2d(x.flatten(1, 2), bank.flatten(1, 3), **conv))
    return torch.stack(outputs, 1)


def published_layout(layer):
    """`(O, C, N, S, L, k, k)` as `(O, N, M, C, k, k)`."""
    return layer.weight.detach().flatten(3, 4).permute(0, 2, 3, 1, 4, 5)


@pytest.mark.parametrize("backend", ["direct", "fourier", "auto"])
@pytest.mark.parametrize("name", GROUPS)
def test_equals_the_published_layer(name, backend):
    torch.manual_seed(0)
    group = ColorGroup.parse(name)
    layer = LCERConv2d(3, 4, 3, group, stride=2, padding=1, backend=backend)
    x = torch.randn(2, group.order, 3, 7, 6)
    expected = published(x, published_layout(layer), stride=2, padding=1)
    torch.testing.assert_close(layer(x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("backend", ["direct", "fourier"])
def test_gradients_of_the_backends_agree(backend):
    torch.manual_seed(0)
    group = ColorGroup(3, 5)
    layer = LCERConv2d(2, 3, (3, 1), group, bias=True, backend=backend).double()
    x = torch.randn(2, 15, 2, 5, 4, dtype=torch.float64, requires_grad=True)
    weight = published_layout(layer).clone().requires_grad_()
    expected = published(x, weight) + layer.bias.detach()[:, None, None]
    probe = torch.randn_like(expected)
    wanted = torch.autograd.grad((expected * probe).sum(), [x, weight])
    got = torch.autograd.grad((layer(x) * probe).sum(), [x, layer.weight])
    torch.testing.assert_close(got[0], wanted[0])
    torch.testing.assert_close(got[1].flatten(3, 4).permute(0, 2, 3, 1, 4, 5), wanted[1])


def test_one_by_hand():
    # A correlation: out(a) = sum_b f(b) w(b - a).
    layer = LCERConv2d(1, 1, 1, ColorGroup(3))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([1.0, 10, 100]).view_as(layer.weight))
    out = layer(torch.tensor([2.0, 3, 5]).view(1, 3, 1, 1, 1)).flatten().tolist()
    assert out == [2 * 1 + 3 * 10 + 5 * 100, 2 * 100 + 3 * 1 + 5 * 10, 2 * 10 + 3 * 100 + 5 * 1]


def test_saturation_by_hand():
    # Moved down, itself, moved up; two of three filters stay when moved, times 3/2.
    layer = LCERConv2d(1, 1, 1, ColorGroup(1, 3))
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([1.0, 10, 100]).view_as(layer.weight))
    out = layer(torch.tensor([2.0, 3, 5]).view(1, 3, 1, 1, 1)).flatten().tolist()
    assert out == [1.5 * (2 * 10 + 3 * 100), 2 + 30 + 500, 1.5 * (3 * 1 + 5 * 10)]


@pytest.mark.parametrize("backend", ["direct", "fourier"])
def test_exact_in_hue_and_not_in_saturation(backend):
    torch.manual_seed(0)
    group = ColorGroup(4, 3)
    layer = LCERConv2d(2, 3, 3, group, padding=1, bias=True, backend=backend).double()
    x = torch.randn(2, 12, 2, 5, 5, dtype=torch.float64)
    for step in range(1, 4):
        torch.testing.assert_close(layer(group.act(x, (step, 0, 0))), group.act(layer(x), (step, 0, 0)))
    moved, acted = layer(group.act(x, (0, 1, 0))), group.act(layer(x), (0, 1, 0))
    assert (moved - acted).norm() > 0.1 * acted.norm()


@pytest.mark.parametrize("options", [{"padding": 1}, {"padding": "same", "dilation": 2}, {"stride": 2, "padding": (1, 2)}])
@pytest.mark.parametrize("mode", ["zeros", "reflect", "circular"])
def test_order_one_is_an_ordinary_convolution(options, mode):
    torch.manual_seed(0)
    layer = LCERConv2d(3, 4, (3, 5), ColorGroup(), bias=True, padding_mode=mode, **options)
    plain = torch.nn.Conv2d(3, 4, (3, 5), padding_mode=mode, **options)
    plain.load_state_dict({"weight": layer.weight.squeeze((2, 3, 4)), "bias": layer.bias})
    x = torch.randn(2, 1, 3, 9, 11)
    torch.testing.assert_close(layer(x)[:, 0], plain(x[:, 0]))


def test_hue_alone_is_group_convolution_read_backwards():
    torch.manual_seed(0)
    group = ColorGroup(5)
    lcer, cyclic = LCERConv2d(2, 3, 3, group), GroupConv2d(2, 3, 3, group, bias=False)
    with torch.no_grad():
        cyclic.weight.copy_(lcer.weight[:, :, [0, 4, 3, 2, 1]])
    x = torch.randn(1, 5, 2, 4, 4)
    torch.testing.assert_close(lcer(x), cyclic(x))


def test_starts_as_the_published_layer_does():
    torch.manual_seed(0)
    layer = LCERConv2d(8, 64, 3, ColorGroup(4, 3))
    bound = 1 / (12 * 8 * 9) ** 0.5  # Kaiming uniform, a = sqrt(5), over G C k k inputs
    assert layer.weight.abs().max() <= bound
    assert layer.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)
    assert layer.bias is None


def test_only_hue_is_transformed():
    assert LCERConv2d(8, 8, 3, ColorGroup(1, 3)).transformed_filters(torch.float32).shape == (3 * 8, 3 * 8, 3, 3)
    assert LCERConv2d(8, 8, 3, ColorGroup(4, 3)).transformed_filters(torch.float32).shape == (5 * 3 * 8, 3 * 8, 3, 3)


def test_every_parameter_gets_a_gradient_and_nothing_else_is_saved():
    layer = LCERConv2d(2, 3, 3, ColorGroup(3, 3), bias=True)
    layer(torch.randn(1, 9, 2, 4, 4)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() and p.grad.abs().sum() > 0 for p in layer.parameters())
    assert set(layer.state_dict()) == {"weight", "bias"}


def test_copies_and_pickles():
    layer = LCERConv2d(2, 3, 3, ColorGroup(3, 3))
    x = torch.randn(1, 9, 2, 4, 4)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        torch.testing.assert_close(other(x), layer(x))


def test_bfloat16_autocast_is_close():
    layer = LCERConv2d(2, 3, 3, ColorGroup(3, 3))
    x = torch.randn(1, 9, 2, 4, 4)
    exact = layer(x)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = layer(x)
    assert (rounded.float() - exact).norm() < 0.02 * exact.norm()


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ((1, 4, 1), "odd saturation order.*got 4"),
        ((4, 1, 2), "odd luminance order.*got 2"),
        ((1, 3, 3), "does not support saturation and luminance together"),
    ],
)
def test_groups_lcer_does_not_know(orders, message):
    with pytest.raises(ValueError, match=message):
        LCERConv2d(2, 3, 3, ColorGroup(*orders))


def test_wrong_input_says_both_numbers():
    layer = LCERConv2d(2, 3, 3, ColorGroup(4, 3))
    with pytest.raises(ValueError, match=r"4 group entries .*12 expected"):
        layer(torch.randn(1, 4, 2, 5, 5))
    with pytest.raises(ValueError, match=r"3 channels .*2 expected"):
        layer(torch.randn(1, 12, 3, 5, 5))
