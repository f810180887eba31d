import pytest
import torch

from t3cen.analysis.distance import circle_distance, interval_distance


def _peak(at, bins=100):
    return torch.zeros(bins).index_fill_(0, torch.tensor([at]), 1.0)


def test_a_peak_that_moves():
    assert interval_distance(_peak(10), _peak(60)) == pytest.approx(0.5)
    assert circle_distance(_peak(10), _peak(60)) == pytest.approx(0.5)
    assert interval_distance(_peak(5), _peak(95)) == pytest.approx(0.9)
    assert circle_distance(_peak(5), _peak(95)) == pytest.approx(0.1)
    assert circle_distance(_peak(5), _peak(95), length=0.25) == pytest.approx(0.025)


def test_it_is_the_distance_of_scipy():
    from scipy.stats import wasserstein_distance

    rng = torch.Generator().manual_seed(0)
    a, b = torch.rand(2, 50, generator=rng, dtype=torch.float64)
    middles = (torch.arange(50, dtype=torch.float64) + 0.5) / 50
    assert interval_distance(a, b) == pytest.approx(wasserstein_distance(middles, middles, a, b), rel=1e-9)


def test_turning_both_changes_nothing_on_a_circle():
    a, b = torch.rand(2, 60, generator=torch.Generator().manual_seed(1))
    assert circle_distance(a.roll(17), b.roll(17)) == pytest.approx(circle_distance(a, b))


def test_masses_are_scaled():
    assert interval_distance(3 * _peak(10), 7 * _peak(10)) == 0


def test_empty_histograms_are_an_error():
    with pytest.raises(ValueError, match="no mass"):
        circle_distance(torch.zeros(10), torch.ones(10))
    with pytest.raises(ValueError, match="same bins"):
        circle_distance(torch.ones(10), torch.ones(12))
