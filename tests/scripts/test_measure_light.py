"""What is measured of trained light networks, and that the committed numbers are those of docs/light.md."""

import importlib.util
import json
from pathlib import Path

import torch

from t3cen.models import build
from t3cen.nn import IdentityLifting, WhitePatchLifting

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("measure_light", ROOT / "scripts" / "measure_light.py")
light = importlib.util.module_from_spec(spec)
spec.loader.exec_module(light)


def network(family, group="", **options):
    torch.manual_seed(0)
    net = build("z2cnn", group, 4, family=family, width=16, **options).eval()
    net.image_size = 28
    return net


def test_photographs_are_crops_of_three_pictures():
    crops = light.photographs(28)
    assert crops.shape == (3 * light.CROPS, 3, 28, 28)
    assert 0 <= crops.min() < 0.05
    assert 0.95 < crops.max() <= 1
    assert crops.std((1, 2, 3)).median() > 0.1
    assert torch.equal(crops, light.photographs(28))


class Largest(torch.nn.Module):
    """Answers with the channel that is brightest on average after a lifting."""

    def __init__(self, lifting):
        super().__init__()
        self.lifting, self.image_size, self.unused = lifting, 28, torch.nn.Parameter(torch.zeros(1))

    def forward(self, rgb):
        return self.lifting(rgb)[:, 0].mean((2, 3))


def test_a_network_that_sees_no_gains_stays_with_its_answers_and_one_that_does_not():
    kept = light.staying(Largest(WhitePatchLifting()))
    assert kept["gains_3"] == 1
    assert kept["camera"] < 1
    assert light.staying(Largest(IdentityLifting()))["gains_3"] < 0.7


def test_errors_are_nothing_at_steps_and_small_where_nothing_is_cut_off(monkeypatch):
    monkeypatch.setattr(light, "FINE", 3)  # of 5, code is compiled for half a minute
    rgb = light.photographs(28)[::24]
    error = light.equivariance(network("t3cen_light", "h3s3l3", band_limit={"activation": 2}), rgb)
    assert error["angles, steps"] < 5e-6
    assert error["pixels cut off there"] == 0
    assert error["images, nothing cut off"] < 1e-2 < error["images as they are"]
    assert error["with 3 points"] < error["angles, between"] / 2
    discrete = light.equivariance(network("t3cen_light", "h3s3l3"), rgb)
    assert discrete["angles, between"] > 5 * error["angles, between"]


def test_the_committed_errors_are_those_that_the_page_tells():
    found = json.loads((ROOT / "docs" / "results" / "light_measured.json").read_text())
    for about in found["data"].values():
        error = about["equivariance error"]
        assert error["angles, steps"] < 5e-6
        assert error[f"with {light.FINE} points"] <= 1e-2
        assert max(error["angles, between"], error["images, nothing cut off"]) <= 2e-1
        assert error["pixels cut off there"] == 0
    assert found["protocol"]["gains"] == [list(gains) for gains in light.GAINS]
    text = (ROOT / light.PAGE).read_text(encoding="utf-8")
    assert light.page(text, found["data"]) == text
