"""Agreement with the paper, held to scipy's own tests."""

import pytest
from scipy import stats

from t3cen.experiments.schema import tables
from t3cen.results.agreement import compare, published
from t3cen.results.cells import Statistic


@pytest.mark.parametrize(
    ("cell", "mean", "sd", "mark", "rounding"),
    [
        ("12.34 (1.20)", 12.34, 1.2, None, 0.005),
        ("**0.00 (0.00)**", 0.0, 0.0, "best", 0.005),
        ("_16.08 (2.68)_", 16.08, 2.68, "second", 0.005),
        ("4.66e-6", 4.66e-6, None, None, 0.005e-6),
        ("2739", 2739, None, None, 0.5),
    ],
)
def test_printed_cells_are_read(cell, mean, sd, mark, rounding):
    paper = published(cell, 3)
    assert (paper.mean, paper.sd, paper.n, paper.mark) == (mean, sd, 3, mark)
    assert paper.rounding == pytest.approx(rounding)


def test_every_declared_cell_is_a_number_or_known_text():
    texts = set()
    for table in tables().values():
        if table.kind != "settings":
            texts |= {cell for *_, cell in table.cells() if cell and published(cell, 3) is None}
    assert texts == {"not possible"}


def test_welch():
    ours = Statistic((10.0, 12.0, 11.5, 10.8))
    exact = compare(ours, published("14.0000000 (1.5)", 5))
    error = (ours.sd**2 / 4 + 1.5**2 / 5) ** 0.5
    freedom = error**4 / ((ours.sd**2 / 4) ** 2 / 3 + (1.5**2 / 5) ** 2 / 4)
    reach = stats.t.ppf(0.975, freedom) * error
    assert (exact.low, exact.high) == pytest.approx((exact.difference - reach, exact.difference + reach), rel=1e-5)
    assert (exact.method, exact.verdict) == ("Welch", "differs")
    rounded = compare(ours, published("14.0 (1.5)", 5))
    assert rounded.high == pytest.approx(exact.high + 0.05, abs=1e-6)  # rounding to 14.0 leaves more room


def test_one_sample_where_the_paper_prints_no_spread():
    ours = Statistic((1.0, 1.4, 0.9))
    result = compare(ours, published("1.20000000", 3))
    interval = stats.ttest_1samp(ours.values, 1.2).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx((interval.low - 1.2, interval.high - 1.2), abs=1e-6)
    assert (result.method, result.verdict) == ("one-sample t", "agrees")


@pytest.mark.parametrize(
    ("values", "paper", "verdict"),
    [
        ((40.0, 14.0, 0.0), "41.40", "not decided"),  # -23 points that nobody can tell from 0 are no agreement
        ((1.0, 1.1, 1.05), "0.90 (0.05)", "agrees"),  # surely apart, and surely within a point
        ((1.0, 1.1, 1.05), "3.00 (0.05)", "differs"),
        ((0.0, 0.0, 0.0), "0.00 (0.00)", "agrees"),
        ((1.5, 1.5, 1.5), "0.00", "differs"),
        ((10.0,), "12.00 (1.00)", "not decided"),
    ],
)
def test_agreement_is_shown_and_never_what_is_left(values, paper, verdict):
    result = compare(Statistic(values), published(paper, 3))
    assert result.verdict == verdict
    assert compare(Statistic(values), published(paper, 3), judged=False).verdict == ""


def test_one_seed_has_no_interval():
    result = compare(Statistic((10.0,)), published("12.00 (1.00)", 3))
    assert (result.difference, result.low, result.high) == (-2.0, None, None)
