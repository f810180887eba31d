from types import SimpleNamespace

import pytest
import torch
from torch import nn

from t3cen.color import rgb_to_hsl
from t3cen.figures import angle, style


class _Runs:
    def caption(self, seeds, source):
        return f"{len(seeds)} {source}"

    def get(self, experiments, seeds):
        return {
            name: [SimpleNamespace(name=name, source="bundled", config={"backbone": "resnet18"}) for _ in seeds]
            for name in experiments
        }


class _Answers(nn.Module):
    """T3CEN gets a third wrong at every hue; the plain network is right until hue has moved by 40 degrees."""

    def __init__(self, name):
        super().__init__()
        self.name, self.unused = name, nn.Parameter(torch.zeros(1))

    def forward(self, rgb):
        near = rgb_to_hsl(rgb)[:, 0].amax((1, 2)) < 40 / 360
        right = torch.arange(len(rgb)) % 3 > 0 if self.name.endswith("h4") else near
        return torch.stack([right.float(), 1 - right.float()], 1)


def test_where_t3cen_overtakes(monkeypatch):
    red = torch.zeros(6, 3, 4, 4)
    red[:, 0] = 1
    monkeypatch.setattr(angle, "trained_network", lambda record: (_Answers(record.name), None))
    monkeypatch.setattr(angle, "held_out_images", lambda data, split, count: (red, torch.zeros(6, dtype=torch.long)))
    with style.house_style():
        figure, numbers = angle.draw(_Runs(), angles=[0, 15, 30, 45, 90], seeds=[1, 2])
    assert numbers["mean"]["plain"] == pytest.approx([0, 0, 0, 100, 100])
    assert numbers["mean"]["t3cen"] == pytest.approx([100 / 3] * 5)
    assert numbers["overtaken_at"] == 45
    assert numbers["published_error"]["t3cen"] == {0: 5.82, 5: 4.69, 10: 3.9, 15: 2.25}
    assert numbers["published_error"]["plain"][15] == 2.94
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["T³CEN-H4", "T³CEN-H4, paper", "ResNet44 (here ResNet18)", "ResNet44, paper"]
    assert "ahead from 45°" in figure.axes[0].texts[0].get_text()
