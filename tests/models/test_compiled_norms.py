"""Networks with compiled norms are the networks without them."""

import copy

import pytest
import torch

from t3cen.models import build
from t3cen.nn import GroupBatchNorm2d
from t3cen.nn.inference import for_inference
from t3cen.ops import kernels
from t3cen.ops.cpu import norm as compiled_norm


@pytest.fixture
def taken(monkeypatch):
    """What is done compiled, as `forward` and `backward`."""
    ways, run = [], compiled_norm._run
    monkeypatch.setattr(
        compiled_norm, "_run", lambda function, *args, **of: ways.append(function.__name__) or run(function, *args, **of)
    )
    yield ways
    kernels.use("auto")


def trained(network, mode, steps=2):
    kernels.use(mode)
    found = {}
    for step in range(steps):
        network.zero_grad()
        images = torch.rand(4, 3, 28, 28, generator=torch.Generator().manual_seed(step))
        loss = network(images).square().mean()
        loss.backward()
        found |= {f"loss {step}": loss.detach()}
        found |= {f"{name} {step}": p.grad.clone() for name, p in network.named_parameters()}
    return found | dict(network.named_buffers())


def gradients(found):
    """Those of all steps, one after the other."""
    return torch.cat([value.flatten().double() for key, value in found.items() if key[-2:] in (" 0", " 1") and "loss" not in key])


@pytest.mark.parametrize(
    ("name", "group", "options"),
    [
        ("resnet18", "h4", {}),
        ("resnet18", "l3", {"band_limit": True}),
        ("resnet50", "h2", {}),
        ("z2cnn", "h4", {}),
        ("z2cnn", "h4", {"recompute": True}),
    ],
    ids=str,
)
def test_networks_train_alike(name, group, options, taken):
    torch.manual_seed(0)
    network = build(name, group, 4, width=8, **options)
    twin, norms = copy.deepcopy(network), sum(isinstance(m, GroupBatchNorm2d) for m in network.modules())
    got = trained(network, "on")
    assert taken.count("forward") == 2 * norms * (2 if "recompute" in options else 1)
    assert taken.count("backward") == 2 * norms
    done, want = len(taken), trained(twin, "off")
    assert len(taken) == done
    for key, value in want.items():
        # Rounding takes some value of a deep network to the other side of a ReLU, which changes gradients as much: those of one
        # parameter most, all together little.
        bound = 1e-4 if "loss" in key or "running" in key else 0.3 if name == "resnet50" else 0.03
        assert (got[key].double() - value).norm() <= bound * value.double().norm(), key
    assert (gradients(got) - gradients(want)).norm() <= 0.05 * gradients(want).norm()
    rgb = torch.rand(2, 3, 28, 28, generator=torch.Generator().manual_seed(9))
    kernels.use("on")
    with torch.no_grad():
        torch.testing.assert_close(for_inference(network, rgb)(rgb), network.eval()(rgb), rtol=1e-4, atol=1e-5)


def test_names_in_state_dict_stay():
    keys = build("resnet18", "h4", 4, width=8).state_dict().keys()
    assert {"stem.0.weight", "stem.1.weight", "stages.0.0.norm1.running_var", "stages.1.0.shortcut.1.bias"} <= keys
    for recompute in (False, True):
        keys = build("z2cnn", "h4", 4, width=8, recompute=recompute).state_dict().keys()
        assert {"layers.0.weight", "layers.1.weight", "layers.4.running_mean", "layers.17.bias"} <= keys
