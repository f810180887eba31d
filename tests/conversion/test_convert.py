"""`convert`: what is preserved, what it agrees with, what it refuses, and that the result is an ordinary module."""

import copy
import pickle
import re
import subprocess
import sys

import pytest
import torch
from torch import nn
from torchvision import models

import t3cen
from t3cen import convert
from t3cen.conversion.layers import FoldedConv2d, FoldedLinear
from t3cen.export import export_program
from t3cen.groups import ColorGroup, RGBGroup
from t3cen.importers import RENAMINGS
from t3cen.models import build
from t3cen.nn import RGBLifting
from t3cen.testing import interpolated, network_error


class Small(nn.Module):
    """Every kind of layer there is: dense, grouped and depthwise convolutions, linear layers inside, a scale per channel."""

    def __init__(self, classes=3):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.grouped = nn.Conv2d(16, 16, 3, padding=1, groups=2)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.act = nn.ReLU()
        self.scale = nn.Parameter(torch.full((16, 1, 1), 0.5))
        self.hidden = nn.Linear(16, 32)
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        x = self.act(self.norm(self.stem(x)))
        x = x + self.scale * self.depthwise(self.act(self.grouped(x)))
        return self.fc(self.act(self.hidden(x.mean((2, 3)))))


def images(batch=2, size=16, dtype=torch.float32):
    return torch.rand(batch, 3, size, size, generator=torch.Generator().manual_seed(batch), dtype=dtype)


def trained(model):
    """With running statistics that are not the initial ones, and nothing at its initial constant."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.rand(parameter.shape, generator=generator))
        model.train()(images(4))
    return model.eval()


def small():
    torch.manual_seed(0)
    return trained(Small())


def small_resnet():
    """torchvision's ResNet18 with the stem of ours."""
    net = models.resnet18(num_classes=10)
    net.conv1, net.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
    return net


def ours(name):
    for pattern, replacement in RENAMINGS:
        name = re.sub(pattern, replacement, name)
    return name


def test_a_converted_resnet18_is_ours():
    torch.manual_seed(0)
    network = convert(small_resnet(), "h4s4", example=images(), mean=(0.5,) * 3, std=(0.5,) * 3)
    twin = build("resnet18", "h4s4", 10, pool="mean")
    twin.load_state_dict({ours(name.removeprefix("body.")): value for name, value in network.state_dict().items()})
    for training in (True, False):
        got, want = network.train(training)(images()), twin.train(training)(images())
        assert (got - want).abs().max() <= 1e-5 * want.abs().max()


@pytest.mark.parametrize("group", ["h4", "h3s2l2"])
def test_with_the_same_width_every_element_sees_the_old_network(group):
    model = small()
    network = convert(model, group, match="width")
    lifted = network.lifting(images())
    outputs = network.on_lifted(lifted)
    for g in range(network.group.order):
        torch.testing.assert_close(outputs[:, g], model(lifted[:, g]), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(network(images()), torch.stack([model(x) for x in lifted.unbind(1)]).mean(0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("match", ["parameters", "width"])
@pytest.mark.parametrize("pool", ["mean", "max"])
def test_outputs_are_invariant_and_features_are_not(match, pool):
    network = convert(small(), "h3s2", match=match, pool=pool)
    assert network_error(network, images(), output="logits").worst <= 5e-6
    assert network_error(network, images()).worst <= 5e-6
    out = network.on_lifted(network.lifting(images())).detach()
    assert not torch.allclose(out[:, 0], out[:, 1], atol=1e-3)


def test_fine_tuning_learns_from_the_other_elements():
    network = convert(small(), "h3", match="width").train()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    labels, losses = torch.tensor([0, 1, 2, 0]), []
    for _ in range(20):
        loss = nn.functional.cross_entropy(network(images(4)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]
    assert network.body.stem.weight[:, :, 1:].abs().max() > 1e-4
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())
    assert network_error(network.eval(), images(), output="logits").worst <= 5e-6


def test_the_trivial_group_changes_nothing():
    model = small()
    network = convert(model, "")
    torch.testing.assert_close(network(images()), model(images()))
    assert network.conversion.after == network.conversion.before


def test_the_model_is_left_alone():
    model = small()
    before = copy.deepcopy(model.state_dict())
    convert(model, "h2")
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not model.training
    assert all(not module._forward_hooks and not module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize(("mix", "mixing"), [("dense", {"stem", "hidden"}), ("grouped", {"stem", "grouped", "hidden"}),
                                             ("all", {"stem", "grouped", "depthwise", "hidden"})])  # fmt: skip
def test_who_mixes_the_elements_is_a_choice(mix, mixing):
    network = convert(small(), "h3", mix=mix, match="width")
    assert set(network.conversion.mixing) == mixing
    found = {n for n, m in network.body.named_modules() if isinstance(m, (FoldedConv2d, FoldedLinear))}
    assert found == mixing
    assert network_error(network, images()).worst <= 5e-6
    assert network.body.grouped.groups == 2


@pytest.mark.slow
def test_width_is_found_from_the_parameters():
    network = convert(models.mobilenet_v3_small(num_classes=100), "h2s2")
    assert network.conversion.after == sum(p.numel() for p in network.parameters())
    assert abs(network.conversion.after / network.conversion.before - 1) <= 0.01
    assert network.body.classifier[-1].out_features == 100


def test_flags_modes_and_constants_stay():
    model = Small().double()
    model.stem.weight.requires_grad_(False)
    nn.init.zeros_(model.norm.weight)
    network = convert(model.train(), "h4")
    assert network.training
    assert not network.body.stem.weight.requires_grad
    assert network.body.stem.weight.dtype == torch.float64
    assert not network.body.norm.weight.any()
    assert (network.body.scale == 0.5).all()


def test_another_lifting():
    group = RGBGroup(2, 3, 1)
    network = convert(small(), group, lifting=RGBLifting(group))
    assert network.lifting.group == network.group == group
    assert network_error(network, images()).worst <= 5e-6
    with pytest.raises(ValueError, match="give both the same group"):
        convert(small(), "h2", lifting=RGBLifting(group))


def test_normalisation_comes_after_the_lifting():
    model, mean, std = small(), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0.5, 0.6, 0.7])
    network = convert(model, "h2", match="width", mean=mean.tolist(), std=std.tolist())
    lifted = network.lifting(images())
    want = model((lifted[:, 1] - mean.view(3, 1, 1)) / std.view(3, 1, 1))
    torch.testing.assert_close(network.on_lifted(lifted)[:, 1], want, rtol=1e-5, atol=1e-5)


def without_products():
    conv = (nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
    return nn.Sequential(*conv, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 3))


def test_a_band_limit_moves_features_between_the_steps():
    torch.manual_seed(0)
    errors = []
    for band_limit in (True, None):
        network = convert(without_products(), "h5", band_limit=band_limit).eval()
        act = {"elements": [(0.3, 0, 0)], "act_output": interpolated(network.group)}
        errors.append(network_error(network, images(), **act).worst)
        assert network_error(network, images()).worst <= 5e-6
    assert errors[0] < 0.2 * errors[1]


def test_a_band_limit_needs_modules():
    with pytest.raises(ValueError, match=r"the network \(Gated\) computes sigmoid"):
        convert(Gated(), "h5", band_limit=True)


@pytest.mark.slow
def test_a_band_limit_takes_gates_whole():
    errors = []
    for band_limit in (True, None):
        torch.manual_seed(0)
        network = convert(models.regnet_y_400mf(num_classes=4), "h5", band_limit=band_limit)
        with torch.no_grad():
            network.train()(images(2, 32))
        act = {"elements": [(0.3, 0, 0)], "act_output": interpolated(network.group)}
        errors.append(network_error(network.eval(), images(1, 32), **act).worst)
        assert network_error(network, images(1, 32)).worst <= 5e-6
    assert errors[0] < 0.01 * errors[1]


class Gated(Small):
    def forward(self, x):
        return super().forward(x * torch.sigmoid(x))


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
def test_copies_and_resumes(copier):
    network = trained(convert(small(), "h3"))
    twin = copier(network)
    torch.testing.assert_close(twin(images()), network(images()))
    fresh = convert(small(), "h3").eval()
    fresh.load_state_dict(network.state_dict())
    torch.testing.assert_close(fresh(images()), network(images()))
    assert set(network.state_dict()) == {f"body.{name}" for name in small().state_dict()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_exports():
    network = trained(convert(small(), "h3"))
    program = export_program(network, (16, 16))
    for batch in (2, 5):
        torch.testing.assert_close(program.module()(images(batch)), network(images(batch)), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_compiles():
    network = trained(convert(small(), "h3"))
    got = torch.compile(network, backend="aot_eager")(images())
    torch.testing.assert_close(got, network(images()), rtol=1e-4, atol=1e-5)


def test_importing_the_package_stays_light():
    code = "import sys, t3cen; print(t3cen.__version__, 'torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert said == [t3cen.__version__, "False"]
    with pytest.raises(AttributeError, match="no attribute 'convret'"):
        t3cen.convret  # noqa: B018


def test_the_group_may_be_named():
    assert convert(small(), "h2s2").group == ColorGroup(2, 2)
