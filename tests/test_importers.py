"""Published state dicts of LCER and CEConv, in the predecessors' layouts and names."""

import re

import pytest
import torch
from torch.nn import functional as F

from t3cen.groups import ColorGroup
from t3cen.importers import RENAMINGS, convert, load_published
from t3cen.models import build
from t3cen.nn import CEConv2d, CELiftingConv2d, LCERConv2d
from t3cen.nn.baselines.ce_conv import hue_rotations

NAMES = (
    (r"^stem\.0\.", "conv1."),
    (r"^stem\.1\.", "bn1."),
    (r"\.norm(\d)\.", r".bn\1."),
    (r"^classifier\.", "linear."),
    (r"\.pointwise$", ".pointwise_weight"),
)


def network(family, group, seed=0, **options):
    torch.manual_seed(seed)
    net = build("resnet18", group, 3, family=family, width=8, **options)
    net(torch.rand(2, 3, 8, 8))  # running statistics of its own
    return net.eval()


def as_published(net, stages):
    """The state dict of one of our networks as its authors would have stored it."""
    published = {}
    for name, value in net.state_dict().items():
        layer = net.get_submodule(name.rpartition(".")[0])
        if isinstance(layer, LCERConv2d) and name.endswith("weight"):
            value = value.flatten(3, 4).permute(0, 2, 3, 1, 4, 5)
        elif isinstance(layer, CELiftingConv2d) and name.endswith("weight"):
            value = value.unsqueeze(2)
        elif isinstance(layer, CEConv2d) and name.endswith(("weight", "pointwise")):
            value = value.squeeze((3, 4)) if value.shape[2] > 1 else value[:, :, :, 0, 0]
        name = re.sub(r"^stages\.(\d)\.", lambda found: stages(int(found[1])), name)
        for pattern, replacement in NAMES:
            name = re.sub(pattern, replacement, name)
        published[name] = value.clone()
    return published


def torchvision(stage):
    return f"layer{stage + 1}."


def ceconv(stage):
    return f"layers.{stage}."


@pytest.mark.parametrize(
    ("family", "group", "stages", "options"),
    [
        ("lcer", "h3", torchvision, {}),
        ("lcer", "s3", torchvision, {}),
        ("lcer", "l3", torchvision, {}),
        ("lcer", "h2s3", torchvision, {}),
        ("ceconv", "h3", ceconv, {}),
        ("ceconv", "h3", ceconv, {"separable": True}),
    ],
)
def test_the_loaded_network_computes_what_the_stored_one_did(family, group, stages, options):
    stored, net = (network(family, group, seed, **options) for seed in (0, 1))
    images = torch.rand(2, 3, 8, 8)
    assert not torch.allclose(net(images), stored(images))
    published = as_published(stored, stages)
    if family == "ceconv":
        published["conv1.transformation_matrix"] = hue_rotations(3)[1].float()
    dropped = load_published(net, published)
    assert torch.equal(net(images), stored(images))
    assert dropped == ({"conv1.transformation_matrix": "our rotation is computed, not stored"} if family == "ceconv" else {})


@pytest.mark.parametrize("orders", [(3, 1, 1), (2, 3, 1), (1, 1, 5)])
def test_an_lcer_layer_equals_the_published_one(orders):
    torch.manual_seed(0)
    group = ColorGroup(*orders)
    hues, steps = orders[0], orders[1] * orders[2]
    weight = torch.randn(4, hues, steps, 2, 3, 3)
    layer = LCERConv2d(2, 4, 3, group)
    layer.load_state_dict(convert(layer, {"weight": weight})[0])
    x = torch.randn(2, group.order, 2, 6, 6)
    expected = []
    for i in range(hues):
        for shift in range(-(steps // 2), steps // 2 + 1):
            bank = torch.roll(weight, (i, shift), (1, 2))
            if shift > 0:
                bank[:, :, :shift] = 0
            elif shift < 0:
                bank[:, :, shift:] = 0
            expected.append(F.conv2d(x.flatten(1, 2), (bank / ((steps - abs(shift)) / steps)).flatten(1, 3)))
    torch.testing.assert_close(layer(x), torch.stack(expected, 1), rtol=1e-5, atol=1e-5)


def test_separable_one_by_one_filters_are_multiplied_out():
    torch.manual_seed(0)
    layer = CEConv2d(2, 4, 1, ColorGroup(3), bias=False, separable=True)
    published = {"weight": torch.randn(4, 2, 1, 1, 1), "pointwise": torch.randn(4, 2, 3, 1, 1)}
    entries, dropped = convert(layer, published)
    layer.load_state_dict(entries)
    assert torch.equal(layer.weight.flatten(2), (published["weight"] * published["pointwise"]).flatten(2))
    assert dropped == {"pointwise": "multiplied into the weight"}


def test_prefixes_and_checkpoints():
    stored, net = network("lcer", "h3", 0), network("lcer", "h3", 1)
    published = {f"module.{name}": value for name, value in as_published(stored, torchvision).items()}
    assert load_published(net, {"epoch": 3, "state_dict": published}) == {}
    assert torch.equal(net.classifier.weight, stored.classifier.weight)


def test_says_what_it_dropped():
    published = as_published(network("lcer", "h3"), torchvision)
    published |= {"auxiliary.weight": torch.zeros(3), "linear.scale": torch.zeros(1)}
    dropped = load_published(network("lcer", "h3", 1), published)
    assert dropped == {
        "auxiliary.weight": "there is no layer 'auxiliary' here",
        "linear.scale": "there is no such entry here",
    }


def test_all_or_nothing():
    net, published = network("lcer", "h3", 1), as_published(network("lcer", "h3"), torchvision)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    del published["layer2.0.conv1.weight"]
    with pytest.raises(ValueError, match=r"1 of the network's \d+ entries are not .*: stages\.1\.0\.conv1\.weight"):
        load_published(net, published)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_other_names_need_renamings():
    published = {f"encoder.{name}": value for name, value in as_published(network("lcer", "h3"), torchvision).items()}
    with pytest.raises(ValueError, match=r"Unused were encoder\.conv1\.weight.*give `renamings`"):
        load_published(network("lcer", "h3", 1), published)
    assert load_published(network("lcer", "h3", 1), published, [(r"^encoder\.", ""), *RENAMINGS]) == {}


def test_other_groups_and_widths_are_refused():
    published = as_published(network("lcer", "h3"), torchvision)
    with pytest.raises(ValueError, match=r"shape .* published, .* expected; build the network with the published group"):
        load_published(network("lcer", "h4", 1), published)


def test_a_learned_rotation_is_refused():
    published = as_published(network("ceconv", "h3"), ceconv)
    published["conv1.transformation_matrix"] = torch.eye(3)
    with pytest.raises(ValueError, match=r"does not rotate by 1/3 of a turn"):
        load_published(network("ceconv", "h3", 1), published)


def test_weights_of_another_kind_are_refused():
    with pytest.raises(ValueError, match=r"4 axes in a published weight .* 6 expected: LCER"):
        convert(LCERConv2d(2, 3, 3, ColorGroup(3)), {"weight": torch.zeros(3, 2, 3, 3)})
    with pytest.raises(ValueError, match=r"4 axes in a published weight .* 5 expected: CEConv"):
        convert(CEConv2d(2, 3, 3, ColorGroup(3)), {"weight": torch.zeros(3, 2, 3, 3)})
    with pytest.raises(ValueError, match="only CEConv's first layer has one"):
        convert(CEConv2d(2, 3, 3, ColorGroup(3)), {"transformation_matrix": torch.eye(3)})
