import math

import pytest
import torch

from t3cen.analysis import best_orders, entropy_density, interval_entropy, most_covered, orbit_values
from t3cen.covers import COVERS


def test_entropy_by_hand():
    points = torch.tensor([0.75, 0.25, 0.5], dtype=torch.float64)
    quarter = 0.25 * math.log(4)
    assert interval_entropy(points).item() == pytest.approx(2 * quarter)
    assert interval_entropy(points, "all").item() == pytest.approx(4 * quarter)
    assert interval_entropy(points, "normalized").item() == pytest.approx(math.log(2))


@pytest.mark.parametrize(("pieces", "expected"), [("gaps", 0.0), ("normalized", 0.0), ("all", math.log(2))])
def test_entropy_of_one_point(pieces, expected):
    assert interval_entropy(torch.tensor([0.5]), pieces).item() == pytest.approx(expected)


def test_entropy_of_points_that_coincide_is_finite():
    assert interval_entropy(torch.full((5, 4), 0.3), "normalized").tolist() == [0.0] * 5


def test_unknown_pieces_are_named():
    with pytest.raises(ValueError, match="gaps, all, normalized, got 'some'"):
        interval_entropy(torch.tensor([0.5]), "some")


def test_evenly_spaced_orbits_have_the_largest_normalized_entropy_only():
    """The paper's k/N - 1/2N: exact when pieces are normalised, a little off for the printed sum."""
    values = torch.linspace(0, 1, 8001, dtype=torch.float64)
    orbit = orbit_values(values, 4)
    normalized = interval_entropy(orbit, "normalized")
    assert set(values[normalized >= math.log(3) - 1e-12].tolist()) == {0.125, 0.375, 0.625, 0.875}
    printed = interval_entropy(orbit, "gaps")
    assert values[printed.argmax()].item() == pytest.approx(0.1086, abs=2e-4)
    assert printed.max() > interval_entropy(orbit_values(most_covered(4), 4)).max()


@pytest.mark.parametrize("cover", COVERS)
def test_the_mean_density_peaks_at_order_5_with_4_close_behind(cover):
    """The paper says 4; its printed formula, averaged over all values, says 5 (docs/fidelity.md)."""
    orders = range(1, 13)
    density = entropy_density((torch.arange(1000, dtype=torch.float64) + 0.5) / 1000, orders, cover)
    mean = density.mean(1)
    assert orders[int(mean.argmax())] == 5
    assert 0.96 < mean[3] / mean[4] < 1
    best = best_orders(density, orders)
    assert best.mode().values.item() == 4


def test_the_lowest_of_equally_good_orders_is_taken():
    assert best_orders(torch.tensor([[0.2, 0.1], [0.2, 0.3]], dtype=torch.float64), [3, 5]).tolist() == [3, 5]
