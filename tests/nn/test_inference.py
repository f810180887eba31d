"""Networks ready for inference: no norms, filters transformed, the same logits."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations
from torch.nn.utils.parametrize import remove_parametrizations

from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.models import build
from t3cen.nn import CEConv2d, GroupBatchNorm2d, GroupConv2d, LCERConv2d
from t3cen.nn.fixed_conv import FixedGroupConv2d
from t3cen.nn.inference import for_inference


def images(count=2, size=28, seed=0, dtype=torch.float32):
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def trained(name, dtype=torch.float32, **options):
    """A network whose norms have statistics, scales and shifts that are not the initial ones."""
    torch.manual_seed(0)
    network = build(name, num_classes=4, **options).to(dtype).train()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 2)
            nn.init.uniform_(module.bias, -1, 1)
            module.momentum = 0.5
    with torch.no_grad():
        for seed in range(3):
            network(images(4, seed=seed, dtype=dtype))
    return network


def largest_difference(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


CASES = [
    ("resnet18", {"group": "h4", "width": 16}),
    ("resnet18", {"group": "h4s4", "width": 32, "backend": "fourier"}),
    ("resnet18", {"group": "h3s2", "width": 8, "backend": "direct"}),
    ("resnet18", {"group": "l3", "width": 8, "band_limit": True}),
    ("resnet18", {"group": "", "width": 8, "family": "plain"}),
    ("resnet18", {"group": "", "width": 8, "family": "gray"}),
    ("resnet18", {"group": "h3s3", "width": 24, "family": "lcer"}),
    ("resnet18", {"group": "h3", "width": 16, "family": "ceconv"}),
    ("resnet18", {"group": "h3", "width": 16, "family": "ceconv", "separable": True, "backend": "fourier"}),
    ("resnet44", {"group": "h4", "width": 8}),
    ("resnet44", {"group": "h2l2", "width": 8, "family": "t3cen_rgb"}),
    ("resnet50", {"group": "s4", "width": 16}),
    ("z2cnn", {"group": "h4", "width": 16, "backend": "fourier"}),
    ("z2cnn", {"group": "h4", "width": 16, "family": "t3cen_scale"}),
    ("z2cnn", {"group": "h3", "width": 20, "band_limit": True, "recompute": True}),
]


@pytest.mark.fast("*-dtype1-*", "resnet18-options1-dtype0-*")
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize(("name", "options"), CASES)
@torch.no_grad()
def test_the_same_logits_without_norms(name, options, dtype, bound):
    network = trained(name, dtype, **options)
    made = for_inference(network, images(dtype=dtype))
    assert network.training
    assert not any(isinstance(module, nn.BatchNorm2d) for module in made.modules())
    for module in made.modules():
        if isinstance(module, GroupConv2d):
            assert (module.fixed is not None) == (module.resolved_backend == "fourier")
            assert (module.weight is None) == (module.fixed is not None)
    rgb = images(3, 30, seed=9, dtype=dtype)
    assert largest_difference(made(rgb), network.eval()(rgb)) < bound


def test_which_layers_are_made_lean():
    def lean(**options):
        made = for_inference(trained("z2cnn", width=16, **options), images())
        return {type(module) is FixedGroupConv2d for module in made.modules() if isinstance(module, GroupConv2d)}

    assert lean(group="h4", backend="fourier") == {True}
    assert lean(group="h3", family="lcer") == lean(group="", family="plain") == {False}


@torch.no_grad()
def test_the_copy_is_an_ordinary_module():
    network = trained("z2cnn", group="h4", width=16, backend="fourier")
    made, rgb = for_inference(network, images()), images(3)
    want = made(rgb)
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made.double().float()):
        assert torch.equal(twin(rgb), want)
    other = for_inference(trained("z2cnn", group="h4", width=16, backend="fourier"), images())
    for value in other.state_dict().values():
        value.zero_()
    other.load_state_dict(made.state_dict())
    assert torch.equal(other(rgb), want)
    assert largest_difference(copy.deepcopy(made).double()(rgb.double()), want.double()) < 1e-5
    with torch.autocast("cpu", torch.bfloat16):
        assert largest_difference(made(rgb).float(), want) < 0.1


@pytest.mark.parametrize("backend", ["direct", "fourier"])
@torch.no_grad()
def test_parametrised_filters_are_refused_and_left_whole(backend):
    network = trained("z2cnn", group="h3", width=8, backend=backend).eval()
    layer = parametrizations.weight_norm(network.classifier)
    want = network(images())
    with pytest.raises(ValueError, match=r"parametrised weight, .*remove_parametrizations"):
        for_inference(network, images())
    if backend == "fourier":
        with pytest.raises(ValueError, match="parametrised weight"):
            layer.fix_filters()
    assert torch.equal(network(images()), want)
    remove_parametrizations(layer, "weight")
    assert largest_difference(for_inference(network, images())(images()), want) < 1e-5


@pytest.mark.parametrize(
    ("group", "options"),
    [("h4", {"width": 64}), ("h4", {"family": "t3cen_scale", "width": 32}), ("h3", {"family": "ceconv", "width": 16})],
    ids=str,
)
@torch.no_grad()
def test_channels_last_before_and_after(group, options):
    network, rgb = trained("resnet18", group=group, **options), images(size=16)
    want = network.eval()(rgb)
    made = for_inference(network, rgb).to(memory_format=torch.channels_last)
    network.to(memory_format=torch.channels_last)
    for other in (network, made, for_inference(network, rgb)):
        assert largest_difference(other(rgb), want) < 1e-5


@pytest.mark.parametrize(
    "layer",
    [
        GroupConv2d(2, 3, 3, CyclicProduct(2, 3), backend="fourier"),
        GroupConv2d(2, 3, 3, CyclicProduct(1), backend="fourier", bias=False),
        LCERConv2d(2, 3, 3, ColorGroup(hue=4, saturation=3), backend="fourier", bias=True),
        CEConv2d(2, 3, 3, ColorGroup(hue=4), backend="fourier", separable=True),
    ],
    ids=lambda layer: type(layer).__name__,
)
@torch.no_grad()
def test_fixed_filters_are_the_filters(layer):
    x = torch.randn(2, layer.group.order, 2, 6, 6, generator=torch.Generator().manual_seed(0))
    want = layer(x)
    layer.fix_filters()
    layer.fix_filters()
    assert torch.equal(layer(x), want)
    assert set(layer.state_dict()) <= {"fixed", "bias"}
    assert layer.double()(x.double()).dtype == torch.float64


class Net(nn.Module):
    """Layers of one's own, with the norms where a test wants them."""

    def __init__(self, forward):
        super().__init__()
        group = CyclicProduct(3)
        self.a, self.b = GroupConv2d(2, 2, 3, group, padding=1), GroupConv2d(2, 2, 3, group, padding=1)
        self.norm, self.other = GroupBatchNorm2d(2), GroupBatchNorm2d(2)
        for norm in (self.norm, self.other):
            for values in (norm.weight, norm.running_var, norm.running_mean):
                nn.init.uniform_(values, 0.5, 2)
        self._forward = forward

    def forward(self, x):
        return self._forward(self, x)


@pytest.mark.parametrize(
    ("forward", "left"),
    [
        (lambda m, x: m.norm(m.a(x)) + m.other(m.b(x)), []),
        (lambda m, x: m.a(m.norm(x).relu()) + m.other(m.b(x)), ["norm"]),
        (lambda m, x: m.other(m.b(m.norm(m.a(x)).relu()).relu()), ["other"]),
        (lambda m, x: m.norm(m.a(m.a(x))) + m.other(m.b(x)), ["norm"]),
        (lambda m, x: m.norm(m.a(x)) + m.norm(m.b(x)) + m.other(x), ["norm", "other"]),
        (lambda m, x: m.norm(y := m.a(x)) + m.other(y), ["norm", "other"]),
    ],
    ids=["both", "pre-activation", "relu between", "convolution twice", "norm twice", "two norms"],
)
@torch.no_grad()
def test_only_norms_that_take_one_convolutions_output_are_folded(forward, left):
    network, x = Net(forward).eval(), torch.randn(2, 3, 2, 5, 5)
    made = for_inference(network, x)
    assert [name for name, module in made.named_modules() if isinstance(module, GroupBatchNorm2d)] == left
    torch.testing.assert_close(made(x), network(x))


@torch.no_grad()
def test_an_output_used_beside_its_norm_is_refused():
    network, x = Net(lambda m, x: m.norm(y := m.a(x)) + y), torch.randn(2, 3, 2, 5, 5)
    with pytest.raises(ValueError, match="used beside the norm"):
        for_inference(network, x)
