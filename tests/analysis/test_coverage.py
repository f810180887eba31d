import pytest
import torch

from t3cen.analysis import distinct_values, most_covered, orbit_values
from t3cen.covers import COVERS


def test_the_triangle_orbit_is_what_the_paper_describes():
    assert orbit_values(0.3, 4).tolist() == pytest.approx([0.3, 0.8, 0.7, 0.2])
    assert orbit_values(0.0, 4).tolist() == pytest.approx([0, 0.5, 1, 0.5])
    assert orbit_values(0.3, 1).tolist() == pytest.approx([0.3])


@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
def test_an_orbit_begins_with_its_value_and_stays_in_the_interval(cover, order):
    values = torch.linspace(0, 1, 41, dtype=torch.float64)
    orbit = orbit_values(values, order, cover)
    assert orbit.shape == (41, order)
    torch.testing.assert_close(orbit[:, 0], values, atol=1e-7, rtol=0)
    assert orbit.min() >= 0
    assert orbit.max() <= 1


def test_distinct_values_are_counted_with_a_tolerance():
    values = torch.tensor([[0.5, 0.1, 0.5], [0.1, 0.2, 0.3], [0.4, 0.4, 0.4 + 1e-9]], dtype=torch.float64)
    assert distinct_values(values).tolist() == [2, 3, 1]


def test_the_named_values_of_maximum_coverage():
    assert most_covered(4).tolist() == [0.125, 0.375, 0.625, 0.875]


@pytest.mark.parametrize(("value", "order", "message"), [(1.2, 4, r"\[0, 1\].*1\.2"), (0.5, 0, "at least 1, got 0")])
def test_wrong_input_is_named(value, order, message):
    with pytest.raises(ValueError, match=message):
        orbit_values(value, order)
