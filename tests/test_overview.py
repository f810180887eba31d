"""The summary of a network, against what is known of it."""

import pytest
import torch
from torch import nn

from t3cen import convert, summary
from t3cen.models import build
from t3cen.nn import IdentityLifting
from t3cen.overview import activations
from t3cen.training.cost import macs


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.act, self.fc = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.ReLU(), nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(self.act(self.conv(x)).mean((2, 3)))


def plain():
    torch.manual_seed(0)
    return Plain()


def test_numbers_of_a_network_counted_by_hand():
    model = plain()
    found = summary(convert(model, "h4s2", match="width"), model, image_size=(8, 8))
    assert found.columns == ("network", "original")
    costs = {label: texts for label, *texts in found.rows}
    assert costs["parameters"] == [f"{3 * 8 * 9 * 8 + 18:,}", f"{3 * 8 * 9 + 18:,}"]
    assert costs["multiply-accumulates, 8 x 8"][1] == f"{(64 * 3 * 8 * 9 + 16) / 1e6:,.1f} M"
    assert set(found.errors) == {"hue (4)", "saturation (2)"}
    for network, original in found.errors.values():
        assert network <= 5e-6
        assert original > 1e-3


def test_memory_is_what_a_step_keeps():
    # The image, the map before ReLU or after, the vector before the last layer.
    kept = 4 * (3 * 64 + 8 * 64 + 8)
    assert kept <= activations(plain(), (8, 8)) <= kept + 4 * 8 * 64


def test_memory_is_of_images_not_of_filters():
    body = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1))
    wide = convert(body, "h4s2", match="width")
    maps = 4 * 8 * 16 * (3 + 32)  # the image, and the map before or after ReLU, of each element
    assert activations(wide, (4, 4)) <= 1.25 * maps


def test_it_prints_as_a_table():
    text = str(summary(build("z2cnn", "h3", 2, width=8), image_size=(28, 28)))
    lines = text.splitlines()
    assert len(lines) == 5
    assert len({len(line) for line in lines}) == 1
    assert "output moves with hue (3)" in text


def test_images_of_another_number_of_channels():
    class OneBand(IdentityLifting):
        channels = 1

        def encode(self, image):
            return image

    network = convert(nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3)), "", lifting=OneBand())
    costs = {label: texts for label, *texts in summary(network, network.body, image_size=(8, 8)).rows}
    assert costs["multiply-accumulates, 8 x 8"] == [f"{(4 * 9 * 36 + 8 * 9 * 16) / 1e6:,.1f} M"] * 2
    assert macs(network, (8, 8), channels=1) == 4 * 9 * 36 + 8 * 9 * 16


def test_nothing_is_changed():
    model = plain().train()
    network = convert(model, "h2")
    before = {name: value.clone() for name, value in network.state_dict().items()}
    summary(network, model, image_size=(8, 8))
    assert model.training
    assert network.training
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())


def test_a_network_without_lifting():
    with pytest.raises(ValueError, match=r"Plain has no lifting; make it with t3cen\.convert"):
        summary(plain())
