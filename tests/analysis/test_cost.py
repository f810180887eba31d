import pytest

from t3cen.analysis import group_cost
from t3cen.groups import ColorGroup


@pytest.mark.parametrize(
    ("name", "convolutions"),
    [("h1", 1), ("h4", 5), ("h4s4", 22), ("h4s4l4", 92), ("h3", 4), ("h8", 11), ("h16", 23)],
)
def test_fourier_counts_the_real_convolutions(name, convolutions):
    group = ColorGroup.parse(name)
    cost = group_cost(group)
    assert cost.fourier == pytest.approx(convolutions / group.order)
    assert cost.direct == group.order
    assert cost.activations == pytest.approx(group.order**0.5)
