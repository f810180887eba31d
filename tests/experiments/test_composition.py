"""The quick composition is Hydra's, and no two rows of a table are the same run."""

import pytest

from t3cen.experiments import all_runs, run_of, trained_tables
from t3cen.experiments.composition import CONF, compose, compose_with, is_current
from t3cen.experiments.identity import setting_hash
from t3cen.experiments.record import read

SCALES = [path.stem for path in sorted((CONF / "scale").glob("*.yaml"))]


def test_same_as_hydra(experiment):
    for scale in SCALES if experiment.startswith(("mnist_h", "shapes3d_sat_s")) else ["laptop"]:
        assert compose(all_runs()[experiment], scale) == compose_with([f"experiment={experiment}", f"scale={scale}"])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("table", trained_tables(), ids=lambda table: table.name)
def test_rows_differ_at_every_scale(table, scale):
    settings = {}
    for run in {run_of(row, column).name: run_of(row, column) for _, row, column, _ in table.cells()}.values():
        settings.setdefault(setting_hash({**compose(run, scale), "name": ""}), set()).add(run.name)
    assert [names for names in settings.values() if len(names) > 1] == []


def test_a_record_is_current_until_its_configuration_changes(result_file):
    assert is_current(read(result_file("mnist_h4", 1999, {"in": 900})))
    assert is_current(read(result_file("mnist_h4", 7, {"in": 900})))
    assert not is_current(read(result_file("mnist_h4", 8, {"in": 900}, settings={"backbone": "resnet18"})))


def test_a_record_with_overrides_is_compared_with_todays_composition_of_them(result_file):
    config = compose(all_runs()["mnist_h4"], "paper")
    faster = {**config["optimizer"], "lr": 0.5}
    record = read(result_file("mnist_h4", 1, {"in": 900}, settings={"optimizer": faster}, overrides=["optimizer.lr=0.5"]))
    assert is_current(record)
    assert not is_current(read(result_file("mnist_h4", 2, {"in": 900}, overrides=["optimizer.lr=0.5"])))


def test_a_run_that_no_longer_exists_is_not_current(result_file):
    path = result_file("mnist_h4", 1, {"in": 900}, overrides=["data=nowhere"])
    assert not is_current(read(path))


def test_changes_are_those_of_the_command_line():
    config = compose_with(["experiment=mnist_h4", "scale=laptop", "seed=5"])
    assert config["name"] == "mnist_h4"
    assert config["seed"] == 5
    assert config["model"]["group"] == "h4"
