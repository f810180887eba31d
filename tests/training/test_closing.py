"""A finished run says how good it was, and runs whose data are missing are told of once."""

import pytest
from runs import job

from t3cen.experiments.record import read
from t3cen.training.closing import errors, summary
from t3cen.training.look import missing_data
from t3cen.training.outcome import outcome


def test_a_run_says_every_test_set_its_seed_time_and_folder(result_file):
    path = result_file("mnist_h4", 7, {"in": 990, "shift": 875})
    said = summary(read(path)).splitlines()
    assert said[0] == "mnist_h4, scale paper, seed 7: trained in 0:01:00"
    assert said[1:3] == ["  in       1.00 % error, 10 of 1,000", "  shift   12.50 % error, 125 of 1,000"]
    assert said[3] == f"  result: {path}"
    assert errors(read(path).tests) == "error in 1.00 %, shift 12.50 %"


@pytest.fixture
def reader(tmp_path):
    """`reader(name, root)`: a run that reads files from there."""

    def make(name, root):
        made = job(tmp_path / name)
        made.config["data"].update(source="files", root=str(root))
        made.config["data"]["seed"] = len(name)
        return made

    return make


def test_missing_data_are_found_once_and_left_in_every_folder(reader, tmp_path, caplog):
    jobs = [reader(name, tmp_path / "none") for name in ("a", "bb")] + [job(tmp_path / "bundled")]
    found = missing_data(jobs)
    assert set(found) == {tmp_path / "a", tmp_path / "bb"}
    assert "train-images-idx3-ubyte" in outcome(tmp_path / "bb", jobs[1].config).reason
    assert caplog.text.count("2 runs cannot begin") == 1
    assert not (tmp_path / "bundled").exists()


def test_data_that_are_there_are_no_trouble_and_one_run_looks_itself(reader, tmp_path, fakes):
    assert missing_data([reader("a", fakes), reader("bb", fakes)]) == {}
    assert missing_data([reader("a", tmp_path / "none")]) == {}
