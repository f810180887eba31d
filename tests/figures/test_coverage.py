import pytest

from t3cen.figures import coverage, style


def test_the_numbers_behind_the_figure():
    with style.house_style():
        figure, numbers = coverage.draw(points=801)
    assert len(figure.axes) == 6
    triangle = numbers["triangle"]
    assert triangle["redundant_inputs"] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert triangle["distinct_values_there"] == [3, 2, 3, 2, 3]
    assert triangle["largest_entropy_at"][0] == pytest.approx(0.1086, abs=2e-3)
    assert numbers["sine"]["redundant_inputs"][1] == pytest.approx(0.1464, abs=1e-4)
    drawn = {round(float(line.get_xdata()[0]), 2) for line in figure.axes[0].lines if len(line.get_xdata()) == 2}
    assert drawn == {0, 0.25, 0.5, 0.75, 1}
