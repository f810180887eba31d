import json

import pytest
from PIL import Image

from t3cen.figures import style
from t3cen.figures.save import save


def _figure():
    with style.house_style():
        figure = style.canvas(2, 1.5)
        figure.subplots().plot([0, 1], [0, 1])
    return figure


def test_equal_figures_are_equal_files(tmp_path):
    about = {"command": "python here", "config": {"order": 4}}
    first = save(_figure(), {"answer": 1.5}, tmp_path / "a", "line", **about)
    second = save(_figure(), {"answer": 1.5}, tmp_path / "b", "line", **about)
    for suffix in ("png", "pdf", "json"):
        assert first[suffix].read_bytes() == second[suffix].read_bytes()
    record = json.loads(first["json"].read_text())
    assert record["numbers"] == {"answer": 1.5}
    assert record["command"] == "python here"
    assert record["config"] == {"order": 4}
    assert record["commit"]


def test_a_small_figure_is_a_picture_of_few_pixels_and_colours(tmp_path):
    paths = save(_figure(), {}, tmp_path, "line", command="", config={}, small=True)
    assert {path.name for path in tmp_path.iterdir()} == {"line.png", "line.json"} == {path.name for path in paths.values()}
    with Image.open(paths["png"]) as image:
        assert image.size == (1200, 900)
        assert len(image.getcolors()) <= 96


def test_numbers_must_be_numbers(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        save(_figure(), {"answer": float("nan")}, tmp_path, "line", command="", config={})
