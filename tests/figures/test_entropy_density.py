import pytest

from t3cen.figures import entropy_density, style


def test_the_numbers_behind_the_figure():
    with style.house_style():
        figure, numbers = entropy_density.draw(max_order=8, covers=["triangle"], bins=20, points=400)
    assert numbers["orders"] == [2, 3, 4, 5, 6, 7, 8]
    triangle = numbers["triangle"]
    assert triangle["highest_mean_at_order"] == 5
    assert triangle["order_4_relative_to_highest"] == pytest.approx(0.987, abs=2e-3)
    shares = triangle["share_of_values_with_best_order"]
    assert max(shares, key=shares.get) == "4"
    assert sum(shares.values()) == pytest.approx(1)
    boxes = [patch for patch in figure.axes[0].patches if not patch.get_fill()]
    assert sum(box.get_width() for box in boxes) == pytest.approx(1)


def test_one_order_is_refused():
    with pytest.raises(ValueError, match="at least 2, got 1"):
        entropy_density.draw(max_order=1)
