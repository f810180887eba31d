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
    paper = published("14.0 (1.5)", 5)
    expected = stats.ttest_ind_from_stats(ours.mean, ours.sd, 4, 14.0, 1.5, 5, equal_var=False)
    exact = compare(ours, published("14.0000000 (1.5)", 5))
    assert exact.p == pytest.approx(expected.pvalue, rel=1e-5)
    assert exact.method == "Welch"
    assert not exact.agrees
    assert exact.low < exact.difference < exact.high < 0
    assert compare(ours, paper).p > exact.p  # rounding to 14.0 leaves more room


def test_one_sample_where_the_paper_prints_no_spread():
    ours = Statistic((1.0, 1.4, 0.9))
    result = compare(ours, published("1.20000000", 3))
    assert result.p == pytest.approx(stats.ttest_1samp(ours.values, 1.2).pvalue, rel=1e-5)
    assert (result.method, result.agrees) == ("one-sample t", True)


def test_the_interval_holds_the_difference_exactly_when_both_agree():
    for mean in (10.0, 11.0, 11.5, 12.0, 13.0, 16.0):
        result = compare(Statistic((10.0, 11.0, 12.0)), published(f"{mean} (1.00)", 3))
        assert result.agrees == (result.low <= 0 <= result.high)


def test_without_spread_only_rounding_may_differ():
    assert compare(Statistic((0.0, 0.0, 0.0)), published("0.00 (0.00)", 3)).agrees
    assert compare(Statistic((0.004, 0.004)), published("0.00", 3)).agrees
    assert not compare(Statistic((0.1, 0.1, 0.1)), published("0.00", 3)).agrees


def test_one_seed_is_no_test():
    result = compare(Statistic((10.0,)), published("12.00 (1.00)", 3))
    assert (result.difference, result.agrees, result.p) == (-2.0, None, None)
