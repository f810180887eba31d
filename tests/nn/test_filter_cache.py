"""Transformed filters are kept in evaluation, and never outlive a change of the weights."""

import copy
import pickle

import pytest
import torch

from t3cen import ops
from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.models import build
from t3cen.nn import CEConv2d, GroupConv2d, LCERConv2d
from t3cen.training.cost import macs


@pytest.fixture
def conv():
    torch.manual_seed(0)
    return GroupConv2d(2, 3, 3, CyclicProduct(3), backend="fourier").eval()


X = torch.randn(2, 3, 2, 5, 5, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def transforms(monkeypatch):
    """Counts how often filters are transformed."""
    calls = []
    original = ops.transform_filters
    monkeypatch.setattr(ops, "transform_filters", lambda *args: calls.append(1) or original(*args))
    return calls


def fresh(conv):
    """What a layer without history makes of the same weights."""
    other = GroupConv2d(2, 3, 3, CyclicProduct(3), backend="fourier").to(conv.weight.dtype)
    other.load_state_dict(conv.state_dict())
    return other(X.to(conv.weight.dtype)).detach()


CHANGES = {
    "in place": lambda m: m.weight.mul_(2),
    "one entry": lambda m: m.weight[1, 1, 2, 0, 0].add_(1e-3),
    "through data": lambda m: m.weight.data.mul_(2),
    "one entry through data": lambda m: m.weight.data[1, 1, 2, 0, 0].add_(1e-3),
    "rolled through data": lambda m: m.weight.data.copy_(m.weight.data.roll(1, 2)),
    "data replaced": lambda m: setattr(m.weight, "data", torch.randn_like(m.weight)),
    "new parameter": lambda m: setattr(m, "weight", torch.nn.Parameter(torch.randn_like(m.weight))),
    "load_state_dict": lambda m: m.load_state_dict({k: v + 1 for k, v in m.state_dict().items()}),
    "assigned state": lambda m: m.load_state_dict({k: v + 1 for k, v in m.state_dict().items()}, assign=True),
    "double": lambda m: m.double(),
    "double and back": lambda m: m.double().float(),
    "reset": lambda m: m.reset_parameters(),
}


@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_no_change_is_missed(change, conv):
    conv(X)
    CHANGES[change](conv)
    assert torch.equal(conv(X.to(conv.weight.dtype)), fresh(conv))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64], ids=str)
@torch.no_grad()
def test_no_entry_is_too_small_a_part_of_a_wide_layer(dtype):
    torch.manual_seed(0)
    conv = GroupConv2d(64, 64, 3, ColorGroup(4), bias=False).to(dtype).eval()
    impulse = torch.zeros(1, 4, 64, 5, 5, dtype=dtype)
    impulse[0, 0, 7, 2, 2] = 1
    conv(impulse)
    for channel in range(20):
        conv.weight.data[channel, 7, 0, 0, 0, 1, 1] *= 1.2
        assert torch.equal(conv(impulse), copy.deepcopy(conv)(impulse)), channel


def test_the_arithmetic_of_a_network_does_not_depend_on_what_is_kept():
    network = build("z2cnn", ColorGroup(3), 4, width=40).eval()
    cold = macs(network, (28, 28))
    with torch.no_grad():
        network(torch.rand(1, 3, 28, 28))
    assert macs(network, (28, 28)) == cold


@torch.no_grad()
def test_kept_between_evaluations(conv, transforms):
    assert torch.equal(conv(X), conv(X))
    assert len(transforms) == 1


BASELINES = {
    "LCER": lambda: LCERConv2d(2, 3, 3, ColorGroup(hue=3), backend="fourier"),
    "LCER, two axes": lambda: LCERConv2d(2, 3, 3, ColorGroup(hue=3, saturation=3), backend="fourier"),
    "CEConv": lambda: CEConv2d(2, 3, 3, ColorGroup(hue=3), backend="fourier", separable=True),
}


@pytest.mark.parametrize("name", BASELINES)
@torch.no_grad()
def test_baselines_keep_theirs_until_any_factor_changes(name, transforms):
    layer = BASELINES[name]().eval()
    x = torch.randn(2, layer.group.order, 2, 5, 5, generator=torch.Generator().manual_seed(1))
    for factor in layer.factors.values():
        first = layer(x)
        assert torch.equal(layer(x), first)
        assert len(transforms) == 1
        transforms.clear()
        factor.data[1].mul_(-1)
        assert not torch.equal(layer(x), first)


def test_optimiser_steps_are_seen(conv, transforms):
    optimiser = torch.optim.SGD(conv.parameters(), 0.1)
    for count in (1, 3):
        with torch.no_grad():
            assert torch.equal(conv(X), fresh(conv))
        assert len(transforms) >= count
        conv(X).sum().backward()
        optimiser.step()


def test_gradients_flow_after_an_evaluation(conv):
    with torch.no_grad():
        conv(X)
    conv(X).sum().backward()
    assert conv.weight.grad.abs().max() > 0


@torch.no_grad()
def test_copies_start_empty_and_states_stay_clean(conv):
    size = len(pickle.dumps(conv))
    conv(X)
    assert list(conv.state_dict()) == ["weight", "bias"]
    assert len(pickle.dumps(conv)) == size
    twin = copy.deepcopy(conv)
    twin.weight.data.zero_()
    assert torch.equal(twin(X), fresh(twin))


def test_inference_mode(conv):
    with torch.inference_mode():
        first = conv(X)
        assert torch.equal(conv(X), first)
    with torch.no_grad():
        assert torch.equal(conv(X), first)


@torch.no_grad()
def test_autocast_does_not_leave_its_precision_behind(conv):
    with torch.autocast("cpu", torch.bfloat16):
        assert conv(X).dtype == torch.bfloat16
    assert torch.equal(conv(X), fresh(conv))
