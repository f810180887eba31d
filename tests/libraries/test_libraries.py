"""Networks of other libraries: built as they are, normalised, and refused where they cannot be."""

import sys
from types import SimpleNamespace

import pytest
import torch
from torchvision import models

from t3cen.experiments import code
from t3cen.models import build


def test_it_is_the_library_s_network_behind_the_normalisation():
    torch.manual_seed(0)
    made = build("torchvision/squeezenet1_1", num_classes=5, family="plain", mean=(0.1, 0.2, 0.3), std=(0.5, 0.6, 0.7)).eval()
    torch.manual_seed(0)
    there = models.squeezenet1_1(num_classes=5).eval()
    rgb = torch.rand(2, 3, 40, 40)
    mean, std = torch.tensor([0.1, 0.2, 0.3]).view(3, 1, 1), torch.tensor([0.5, 0.6, 0.7]).view(3, 1, 1)
    torch.testing.assert_close(made(rgb), there((rgb - mean) / std))
    assert made.features(rgb).shape == (2, 1, 5, 1, 1)
    assert made.channels == 5


def test_gray_is_grey():
    made = build("torchvision/shufflenet_v2_x0_5", num_classes=3, family="gray").eval()
    rgb = torch.rand(2, 3, 32, 32)
    torch.testing.assert_close(made(rgb), made(made.lifting(rgb)[:, 0]), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(made(rgb), made(rgb.flip(1)))


@pytest.mark.parametrize("name", ["googlenet", "inception_v3"])
def test_auxiliary_classifiers_are_left_out(name, monkeypatch):
    asked = {}
    monkeypatch.setattr(models, "get_model", lambda name, **options: asked.update(options) or torch.nn.Identity())
    build(f"torchvision/{name}", num_classes=3, family="plain")
    assert asked == {"weights": None, "num_classes": 3, "aux_logits": False, "init_weights": True}


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("torchvision/resnet19", {}, "torchvision has no network 'resnet19' for classification; .*resnet18"),
        ("keras/resnet18", {}, "unknown network 'keras/resnet18'; known: .*timm/NAME, torchvision/NAME"),
        ("torchvision/resnet18", {"width": 16}, "model.width=null model.recompute=false, got 16 and False"),
        ("torchvision/resnet18", {"recompute": True}, "model.width=null model.recompute=false, got None and True"),
    ],
)
def test_refusals(name, options, told):
    with pytest.raises(ValueError, match=told):
        build(name, family="plain", **options)


@pytest.mark.parametrize("family", ["lcer", "ceconv"])
def test_families_that_need_layers_of_their_own_are_refused(family):
    with pytest.raises(ValueError, match=f"has no layers of .{family}."):
        build("torchvision/resnet18", "h4", family=family)


def test_timm_is_asked_for_or_used(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ValueError, match="needs the package timm: pip install timm"):
        build("timm/convnext_tiny", family="plain")
    head = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 4))
    timm = SimpleNamespace(list_models=lambda: ["convnext_tiny"], create_model=lambda name, pretrained, num_classes: head)
    monkeypatch.setitem(sys.modules, "timm", timm)
    assert build("timm/convnext_tiny", num_classes=4, family="plain")(torch.rand(1, 3, 9, 9)).shape == (1, 4)


def test_its_code_is_that_of_its_library():
    config = {"backbone": "torchvision/resnet18", "model": {"family": "plain"}}
    files = code.parts(config)
    assert "t3cen/libraries/torchvision.py" in files
    assert "t3cen/libraries/timm.py" not in files
    assert "t3cen/libraries/torchvision.py" not in code.parts(config | {"backbone": "resnet18"})


@torch.no_grad()
def test_a_family_with_a_group_has_its_twin():
    network = build("torchvision/resnet18", "h3", 4).eval()
    angles = network.lifting.encode(torch.rand(1, 3, 32, 32))
    found, moved = (network.trunk(network.lifting.lift(a)) for a in (angles, network.lifting.act(angles, (1, 0, 0))))
    torch.testing.assert_close(moved, network.lifting.group.act(found, (1, 0, 0)), rtol=0, atol=1e-5 * float(found.abs().max()))
    assert not torch.allclose(found, moved, atol=1e-4 * float(found.abs().max()))
