import json
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from t3cen.color import hsl_to_rgb, rgb_to_hsl
from t3cen.experiments import all_runs
from t3cen.figures import between_steps, registry, style

AXES = {
    "saturation": {
        "data": "patches",
        "test": "A",
        "step": 0.5,
        "networks": {
            "plain": {"experiment": "plain", "look": "plain"},
            "T³CEN-S4": {"experiment": "s4", "look": "t3cen"},
            "T³CEN-S4 + jitter": {"experiment": "s4 step_jitter=true", "look": "t3cen", "jittered": True},
        },
    }
}


class _Runs:
    def caption(self, seeds, source):
        return f"{len(seeds)} {source}"

    def get(self, experiments, seeds):
        return {name: [SimpleNamespace(name=name, source="rendered") for _ in seeds] for name in experiments}


class _Answers(nn.Module):
    """Right only near the saturation it was trained at, or near a whole step from it."""

    def __init__(self, name):
        super().__init__()
        self.steps, self.unused = [0.0] if name == "plain" else [0.0, -0.5, 0.5], nn.Parameter(torch.zeros(1))

    def forward(self, rgb):
        saturation = rgb_to_hsl(rgb)[:, 1].mean((1, 2))
        right = torch.stack([(saturation - 0.5 - step).abs() < 0.1 for step in self.steps]).any(0)
        return torch.stack([right.float(), 1 - right.float()], 1)


def test_the_numbers_behind_the_figure(monkeypatch):
    images = hsl_to_rgb(torch.tensor([0.3, 0.5, 0.5])[None, :, None, None].expand(4, 3, 3, 3))
    monkeypatch.setattr(between_steps, "trained_network", lambda record: (_Answers(record.name), None))
    monkeypatch.setattr(between_steps, "held_out_images", lambda data, split, count: (images, torch.zeros(4, dtype=torch.long)))
    with style.house_style():
        figure, numbers = between_steps.draw(_Runs(), AXES, points=9)
    found = numbers["saturation"]
    assert found["amounts"] == pytest.approx([-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1])
    assert found["plain"]["clip"] == [100, 100, 100, 100, 0, 100, 100, 100, 100]
    assert found["plain"]["fold"] == [0, 100, 100, 100, 0, 100, 100, 100, 0]  # folded, a shift of 1 comes back to 0.5
    assert found["T³CEN-S4"]["clip"] == [0, 0, 0, 100, 0, 100, 0, 0, 0]
    marked = {round(float(line.get_xdata()[0]), 2) for line in figure.axes[0].lines if len(line.get_xdata()) == 2}
    assert marked == {-1, -0.5, 0, 0.5, 1}
    *panels, legend = figure.axes
    assert len(panels) == 2
    labels = [text.get_text() for text in legend.get_legend().get_texts()]
    assert labels == ["plain", "T³CEN", "T³CEN + jitter", "steps of the group"]


def test_the_legend_names_every_look_once():
    more = {"T³CEN-S8": {"experiment": "s8", "look": "t3cen_high"}}
    axes = {"saturation": {**AXES["saturation"], "networks": AXES["saturation"]["networks"] | more}}
    curves = {label: {"fold": [0.0] * 9} for label in axes["saturation"]["networks"]}
    measured = {"runs": "", "saturation": {"amounts": [0.25 * at for at in range(-4, 5)], "step": 0.5, **curves}}
    with style.house_style():
        figure = between_steps._figure(measured, axes)
    labels = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    assert labels == ["plain", "T³CEN", "T³CEN + jitter", "T³CEN-S8", "steps of the group"]


def test_equal_curves_are_not_hidden_and_numbers_are_drawn_again(tmp_path):
    curves = {label: {"fold": [0.0] * 9} for label in AXES["saturation"]["networks"]}
    measured = {"runs": "n = 3", "saturation": {"amounts": [0.25 * at for at in range(-4, 5)], "step": 0.5, **curves}}
    (tmp_path / "before.json").write_text(json.dumps({"numbers": measured}))
    with style.house_style():
        figure, numbers = between_steps.draw(None, AXES, numbers=str(tmp_path / "before.json"))
    assert numbers == measured
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 9]
    assert all(list(line.get_ydata()) == [0.0] * 9 for line in lines)
    assert len({line.get_markevery() for line in lines}) == len(lines) == 3


@pytest.mark.parametrize("name", ["between_steps", "between_steps_continuous"])
def test_the_drawn_networks_exist_and_are_of_the_group_whose_steps_are_marked(name):
    for axis, about in registry.configure(name).figure.axes.items():
        lines = [tuple(network.get(key) for key in ("look", "jittered")) for network in about.networks.values()]
        assert len(set(lines)) == len(lines)
        runs = [all_runs()[network.experiment.split()[0]] for network in about.networks.values()]
        assert {network.look for network in about.networks.values()} <= set(between_steps.LOOKS)
        order = {run.group for run, network in zip(runs, about.networks.values(), strict=True) if network.look == "t3cen"}
        assert order == {f"{axis[0]}{round((1 if axis == 'hue' else 2) / about.step)}"}
