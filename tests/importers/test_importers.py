"""Published state dicts of LCER and CEConv give the predictions of the published forward passes."""

from functools import partial

import pytest
import torch
from published import CEConv, CELift, LCERConv, LCERNorm, ResNet18
from torch import nn

from t3cen.groups import ColorGroup
from t3cen.importers import RENAMINGS, convert, load_published
from t3cen.models import build
from t3cen.nn import CEConv2d, LCERConv2d
from t3cen.nn.baselines.ce_conv import hue_rotations


def network(family, group, seed=0, **options):
    torch.manual_seed(seed)
    return build("resnet18", group, 3, family=family, width=8, **options).eval()


def published(kind, order, group=(1, 1), separable=False, seed=2, coset_pool=True):
    """A published network in evaluation mode, its running statistics its own, as wide as `network`."""
    torch.manual_seed(seed)
    size = torch.Size(group).numel() * order
    widths = [int(width / size**0.5) for width in (8, 16, 32, 64)]
    if kind == "lcer":
        conv, norm = partial(LCERConv, orders=group), LCERNorm
        stem = conv(3, widths[0], 3)
        pool, features = (lambda f: f.mean((2, 3)).unflatten(1, (size, -1)).amax(1)), widths[-1]
    elif order == 1:
        conv, norm = lambda *args, **how: nn.Conv2d(*args, padding=args[2] // 2, bias=False, **how), nn.BatchNorm2d
        stem = conv(3, widths[0], 3)
        pool, features = (lambda f: f.mean((2, 3))), widths[-1]
    else:
        conv, norm = partial(CEConv, order=order, separable=separable), nn.BatchNorm3d
        stem = CELift(widths[0], 3, hue_rotations(order)[1].float(), order)
        pool = (lambda f: f.amax(2).mean((2, 3))) if coset_pool else (lambda f: f.flatten(1, 2).mean((2, 3)))
        features = widths[-1] * (1 if coset_pool else order)
    net = ResNet18(stem, conv, norm, widths, features, 3, pool, numbered=kind == "ceconv")
    first = torch.rand(4, 3 * (size if kind == "lcer" else 1), 8, 8)
    net(first)
    return net.eval()


def check(net, stored, rgb):
    lifted = net.lifting(rgb).flatten(1, 2)
    want = stored((lifted - 0.5) / 0.5)
    torch.testing.assert_close(net(rgb), want, rtol=1e-4, atol=1e-4 * want.abs().max().item())


@pytest.mark.parametrize(("group", "orders"), [("h3", (3, 1)), ("s3", (1, 3)), ("l5", (1, 5)), ("h2s3", (2, 3)), ("", (1, 1))])
def test_an_lcer_network_gives_its_published_predictions(group, orders):
    net, stored, rgb = network("lcer", group), published("lcer", 1, orders), torch.rand(2, 3, 16, 16)
    dropped = load_published(net, stored.state_dict())
    assert set(dropped.values()) == {"made of conv_weight"}
    check(net, stored, rgb)


@pytest.mark.parametrize("separable", [False, True])
@pytest.mark.parametrize(("pool", "coset_pool"), [("pixel_max", True), ("none", False)])
def test_a_ceconv_network_gives_its_published_predictions(pool, coset_pool, separable):
    net = network("ceconv", "h3", pool=pool, separable=separable)
    stored = published("ceconv", 3, separable=separable, coset_pool=coset_pool)
    dropped = load_published(net, stored.state_dict())
    assert dropped.pop("conv1.transformation_matrix") == "our rotation is computed, not stored"
    assert set(dropped.values()) <= {"multiplied into the weight"}
    check(net, stored, torch.rand(2, 3, 16, 16))


def test_the_order_of_pooling_matters():
    net, stored = network("ceconv", "h3"), published("ceconv", 3)
    load_published(net, stored.state_dict())
    with pytest.raises(AssertionError):
        check(net, stored, torch.rand(2, 3, 16, 16))


@pytest.mark.parametrize("family", ["plain", "ceconv"])
def test_a_baseline_of_one_rotation_gives_its_published_predictions(family):
    net, stored = network(family, ""), published("ceconv", 1)
    assert load_published(net, stored.state_dict()) == {}
    check(net, stored, torch.rand(2, 3, 16, 16))


def test_separable_one_by_one_filters_are_multiplied_out():
    torch.manual_seed(0)
    layer = CEConv2d(2, 4, 1, ColorGroup(3), bias=False, separable=True)
    published = {"weight": torch.randn(4, 2, 1, 1, 1), "pointwise": torch.randn(4, 2, 3, 1, 1)}
    entries, dropped = convert(layer, published)
    layer.load_state_dict(entries)
    assert torch.equal(layer.weight.flatten(2), (published["weight"] * published["pointwise"]).flatten(2))
    assert dropped == {"pointwise": "multiplied into the weight"}


def test_prefixes_and_checkpoints():
    stored, net = published("lcer", 1, (3, 1)), network("lcer", "h3")
    entries = {f"module.{name}": value for name, value in stored.state_dict().items()}
    load_published(net, {"epoch": 3, "state_dict": entries})
    assert torch.equal(net.classifier.weight, stored.linear.weight)


def test_says_what_it_dropped():
    entries = {**published("ceconv", 1).state_dict(), "auxiliary.weight": torch.zeros(3), "linear.scale": torch.zeros(1)}
    assert load_published(network("plain", ""), entries) == {
        "auxiliary.weight": "there is no layer 'auxiliary' here",
        "linear.scale": "there is no such entry here",
    }


def test_all_or_nothing():
    net, entries = network("lcer", "h3"), published("lcer", 1, (3, 1)).state_dict()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    del entries["layer2.0.conv1.conv_weight"]
    with pytest.raises(ValueError, match=r"1 of the network's \d+ entries are not .*: stages\.1\.0\.conv1\.weight"):
        load_published(net, entries)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_other_names_need_renamings():
    entries = {f"encoder.{name}": value for name, value in published("ceconv", 1).state_dict().items()}
    with pytest.raises(ValueError, match=r"Unused were encoder\.conv1\.weight.*give `renamings`"):
        load_published(network("plain", ""), entries)
    assert load_published(network("plain", ""), entries, [(r"^encoder\.", ""), *RENAMINGS]) == {}


def test_other_groups_and_widths_are_refused():
    with pytest.raises(ValueError, match=r"shape .* published, .* expected; build the network with the published group"):
        load_published(network("ceconv", "h4"), published("ceconv", 3).state_dict() | {"conv1.transformation_matrix": quarter()})


def quarter():
    return hue_rotations(4)[1].float()


def test_a_learned_rotation_is_refused():
    entries = published("ceconv", 3).state_dict() | {"conv1.transformation_matrix": torch.eye(3)}
    with pytest.raises(ValueError, match=r"does not rotate by 1/3 of a turn"):
        load_published(network("ceconv", "h3"), entries)


@pytest.mark.parametrize(
    ("layer", "entries", "message"),
    [
        (LCERConv2d, {"conv_weight": torch.zeros(3, 2, 3, 3)}, "2 inputs in an LCER filter bank, a multiple of 3 expected"),
        (LCERConv2d, {"conv_weight": torch.zeros(3, 3, 1, 2, 3, 3)}, r"6 axes in a published weight .* 4 expected: LCER"),
        (LCERConv2d, {"weight": torch.zeros(3, 2, 3, 3)}, r"LCER layer has a conv_weight, got a weight \(3, 2, 3, 3\)"),
        (CEConv2d, {"weight": torch.zeros(3, 2, 3, 3)}, r"4 axes in a published weight .* 5 expected: CEConv"),
        (CEConv2d, {"conv_weight": torch.zeros(3, 6, 3, 3)}, "an LCER filter bank for a CEConv2d; build .* family='lcer'"),
        (CEConv2d, {"transformation_matrix": torch.eye(3)}, "only CEConv's first layer has one"),
    ],
)
def test_weights_of_another_kind_are_refused(layer, entries, message):
    with pytest.raises(ValueError, match=message):
        convert(layer(2, 3, 3, ColorGroup(3)), entries)
