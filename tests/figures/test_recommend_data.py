"""The project's own data sets, through the tool: what the paper found to move is what is recommended."""

import pytest

from t3cen.figures.recommend_data import recommend_data

GROUPS = ("h4", "s4", "s8", "l4", "l8")


def _recommend(name, *overrides, split=None):
    return recommend_data(name, split, limit=60, overrides=overrides, groups=GROUPS, pixels=256)


def test_hue_shifted_digits_want_hue():
    found = _recommend("mnist")
    assert found.group == "h4"
    assert found.moves["hue"].distance > 0.2
    assert not found.color_is_signal


@pytest.mark.slow
def test_the_hospitals_want_saturation():
    found = _recommend("camelyon", "data.patches=40")
    assert found.group[0] == "s"
    assert not found.color_is_signal
    # The hospitals are drawn apart in colour alone: colour tells nothing of the label, in none of them.
    assert found.moves["saturation"].distance > 0.1
    assert found.signals["saturation"].strength < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("split", ["B", "C"])
def test_the_lit_toys_want_luminance(split):
    found = _recommend("smallnorb", split=split)
    assert found.group[0] == "l"
    assert found.moves["hue"].distance == found.moves["saturation"].distance == 0
    assert not found.color_is_signal


def test_an_unknown_test_set_is_named():
    with pytest.raises(ValueError, match="no test set 'B'; it has in, shift, validation"):
        _recommend("mnist", split="B")
