import pytest

from t3cen.figures import style, training_cost


def test_the_numbers_behind_the_figure(monkeypatch):
    """Bars are what was measured, failures are dashes, and the table gets the cells it has."""

    def measured(setting, limit):
        if setting.family == "lcer":
            return {"failed": "out of memory"} if setting.group == "l3" else {"memory_mib": 7.0, "iterations_per_second": 70.0}
        size = {"": 1, "s4": 2, "l4": 2}[setting.group] * {"direct": 3}.get(setting.backend, 1)
        return {"memory_mib": 100.0 * size, "iterations_per_second": 10.0 / size, "parameters": 1, "device": "a device"}

    monkeypatch.setattr(training_cost, "measure", measured)
    with style.house_style():
        figure, numbers = training_cost.draw("smoke", groups=["h1", "s4", "l4"])
    cells = numbers["tables"]["training_cost"]
    assert cells["memory/t3cen/s4"] == 200
    assert [cells[f"speed/{row}/h1"] for row in ("t3cen", "lcer", "ceconv")] == [10, 10, 10]
    assert cells["memory/lcer_odd/s4"] == 7
    assert not {"memory/lcer/s4", "memory/lcer_odd/l4", "memory/ceconv/s4"} & set(cells)
    assert numbers["published"]["memory"]["t3cen"]["h4s4l4"] == 32842
    assert "h4s4l4" not in numbers["published"]["memory"]["lcer"]
    heights = sorted(patch.get_height() for patch in figure.axes[0].patches)
    assert heights == [7, 100, 100, 100, 100, 200, 200, 600, 600]
    title = figure.axes[0].get_title(loc="left")
    assert title == "ResNet18 of width 8, 16 × 16 pixels, batch 2, 1 iteration after 1, on a device"


def test_networks_are_what_the_table_calls_them(monkeypatch):
    """The column of order 1 is the plain network, LCER has order 3 where it has no order 4, CEConv has hue alone."""
    seen = []
    monkeypatch.setattr(training_cost, "measure", lambda setting, limit: seen.append(setting) or {})
    with style.house_style():
        training_cost.draw("laptop", groups=["h1", "h4", "h4s4", "h4s4l4"])
    assert [(setting.family, setting.group) for setting in seen if setting.backend != "direct"] == [
        ("plain", ""),
        *(("t3cen", group) for group in ("h4", "h4s4", "h4s4l4")),
        *(("lcer", group) for group in ("h4", "h4s3")),
        ("ceconv", "h4"),
    ]
    assert {(setting.image_size, setting.batch_size, setting.seconds) for setting in seen} == {(32, 8, 8.0)}


def test_an_unknown_protocol_is_named():
    with pytest.raises(ValueError, match="paper, laptop, smoke, got 'huge'"):
        training_cost.draw("huge")
