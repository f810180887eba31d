"""Cells average repetitions of one setting and nothing else."""

import math

import pytest

from t3cen.experiments import all_runs
from t3cen.experiments.code import todays
from t3cen.experiments.composition import compose
from t3cen.results import load
from t3cen.results.cells import Cells, statistic

SEEDS = (1999, 2000, 2001)


def select(folder, scale="paper", source=None, run="mnist_h4"):
    return Cells(load(folder), scale, source).select(run, SEEDS)


def test_mean_and_sample_standard_deviation_in_percent(result_file, tmp_path):
    for seed, correct in zip(SEEDS, (900, 910, 950), strict=True):
        result_file("mnist_h4", seed, {"shift": correct})
    selection = select(tmp_path)
    error = statistic(selection.group, "shift", "error")
    assert (error.n, selection.set_aside) == (3, ())
    assert error.mean == pytest.approx(8.0)
    assert error.sd == pytest.approx(math.sqrt((2**2 + 1**2 + 3**2) / 2))
    assert statistic(selection.group, "shift", "accuracy").mean == pytest.approx(92.0)
    assert statistic(selection.group, "in", "error") is None


def test_one_seed_has_no_spread(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900})
    assert statistic(select(tmp_path).group, "shift", "error").sd is None


def test_scales_never_meet(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900})
    result_file("mnist_h4", 2000, {"shift": 100}, scale="laptop")
    assert select(tmp_path).group.seeds == (1999,)
    assert select(tmp_path, scale="laptop").group.seeds == (2000,)
    assert select(tmp_path, scale="smoke").group is None


@pytest.mark.parametrize(
    ("odd_one_out", "reason"),
    [
        ({"source": "fake"}, "fake data, where the cell has files"),
        ({"settings": {"backbone": "resnet18"}}, "another configuration, not the one composed today"),
        ({"commit": "fedcba9876543210"}, "other code"),
        ({"dirty": True}, "other code"),
        ({"code_hash": "a" * 64}, "other code"),
        ({"total": 2000}, "test sets of other sizes"),
        ({"data_provenance": {"name": "MNIST", "source": "files", "digits": 7}}, "other data of the same source"),
        ({"overrides": ["optimizer.lr=0.5"]}, "settings of their own on the command line"),
    ],
)
def test_a_record_that_differs_is_set_aside_not_averaged(result_file, tmp_path, odd_one_out, reason):
    for seed in SEEDS[:2]:
        result_file("mnist_h4", seed, {"shift": 900})
    result_file("mnist_h4", SEEDS[2], {"shift": 900}, **odd_one_out)
    selection = select(tmp_path)
    assert selection.group.seeds == SEEDS[:2]
    assert [(item.count, item.reason) for item in selection.set_aside] == [(1, reason)]


def test_pictures_from_another_source_are_a_change_of_data_not_a_setting(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900}, source="bundled", overrides=["data.source=bundled"])
    assert select(tmp_path).group.seeds == (1999,)


def test_a_source_can_be_asked_for(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900})
    result_file("mnist_h4", 2000, {"shift": 900}, source="bundled")
    assert select(tmp_path, source="bundled").group.seeds == (2000,)


def test_a_seed_counts_once(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900}, finished="2026-01-02")
    result_file("mnist_h4", 1999, {"shift": 100}, folder=tmp_path / "copy", finished="2026-01-01")
    selection = select(tmp_path)
    assert statistic(selection.group, "shift", "error").values == (pytest.approx(10.0),)
    assert [item.reason for item in selection.set_aside] == ["seeds recorded twice; the newest record of each counts"]


def test_seeds_the_table_does_not_name_are_set_aside(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900})
    result_file("mnist_h4", 3, {"shift": 100})
    selection = select(tmp_path)
    assert selection.group.seeds == (1999,)
    assert [item.reason for item in selection.set_aside] == ["seeds the table does not name (3)"]


def test_only_stale_records_are_shown_as_stale(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900}, settings={"backbone": "resnet18"})
    assert not select(tmp_path).group.current


def test_code_may_be_mixed_where_that_is_asked_for(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900})
    result_file("mnist_h4", 2000, {"shift": 900}, code_hash="a" * 64)
    group = Cells(load(tmp_path), "paper", mix_code=True).select("mnist_h4", SEEDS).group
    assert (group.seeds, group.mixed_code) == ((1999, 2000), True)


def test_todays_code_wins_over_other_code(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"shift": 900}, code_hash=todays(compose(all_runs()["mnist_h4"], "paper")))
    for seed in SEEDS[1:]:
        result_file("mnist_h4", seed, {"shift": 100})
    selection = select(tmp_path)
    assert selection.group.seeds == (1999,)
    assert selection.group.first.is_of_todays_code
