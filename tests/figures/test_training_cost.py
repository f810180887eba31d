import pytest

from t3cen.figures import style, training_cost


def test_the_numbers_behind_the_figure(monkeypatch):
    """Bars are what was measured, failures are dashes, and the table gets the cells it has."""

    def measured(setting, limit):
        if setting.family == "lcer" and setting.group == "s4":
            return {"failed": "no such network"}
        size = {"": 1, "s4": 2}[setting.group] * {"direct": 3}.get(setting.backend, 1)
        return {"memory_mib": 100.0 * size, "iterations_per_second": 10.0 / size, "parameters": 1, "device": "a device"}

    monkeypatch.setattr(training_cost, "measure", measured)
    with style.house_style():
        figure, numbers = training_cost.draw("smoke", groups=["h1", "s4"])
    cells = numbers["tables"]["training_cost"]
    assert cells["memory/t3cen/s4"] == 200
    assert cells["speed/t3cen/h1"] == 10
    assert "memory/lcer/s4" not in cells
    assert numbers["published"]["memory"]["t3cen"]["h4s4l4"] == 32842
    assert "h4s4l4" not in numbers["published"]["memory"]["lcer"]
    heights = sorted(patch.get_height() for patch in figure.axes[0].patches)
    assert heights == [100, 100, 200, 300, 600]
    assert "a device" in figure.axes[0].get_title(loc="left")


def test_an_unknown_protocol_is_named():
    with pytest.raises(ValueError, match="paper, laptop, smoke, got 'huge'"):
        training_cost.draw("huge")
