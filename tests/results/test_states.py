"""The state of a run is read from its folder, without disturbing it."""

import fcntl
import json

import pytest

from t3cen.results.states import state_of, steps_done


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "paper" / "mnist_h4" / "seed1999"
    path.mkdir(parents=True)
    return path


def state(tmp_path, seed=1999):
    return state_of(tmp_path, "paper", "mnist_h4", seed)


def log_steps(folder, *steps):
    sitting = folder / "csv" / "sitting_0"
    sitting.mkdir(parents=True)
    (sitting / "metrics.csv").write_text("epoch,step,train/loss\n" + "".join(f"0,{step},0.5\n" for step in steps))


def test_missing(tmp_path, folder):
    assert state(tmp_path).kind == "missing"
    assert state(tmp_path, seed=3).kind == "missing"


def test_unfinished_says_how_far_it_got(tmp_path, folder):
    (folder / "config.json").write_text("{}")
    log_steps(folder, 19, 39)
    assert (state(tmp_path).kind, state(tmp_path).steps) == ("unfinished", 40)
    assert steps_done(folder) == 40


def test_failed_says_why(tmp_path, folder):
    (folder / "failure.json").write_text(json.dumps({"kind": "killed", "reason": "killed by signal 9", "time": "now"}))
    assert (state(tmp_path).kind, state(tmp_path).reason) == ("failed", "killed: killed by signal 9")


def test_running_while_the_lock_is_held_and_no_longer(tmp_path, folder):
    (folder / "failure.json").write_text(json.dumps({"kind": "raised", "reason": "before"}))
    with (folder / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert state(tmp_path).kind == "running"
    assert state(tmp_path).kind == "failed"


def test_a_result_of_fake_pictures_is_not_done(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"in": 900}, source="fake")
    assert state(tmp_path).kind == "stale"
    assert "fake pictures" in state(tmp_path).reason


def test_done_and_stale_and_refused(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"in": 900})
    result_file("mnist_h4", 2000, {"in": 900}, settings={"backbone": "resnet18"})
    result_file("mnist_h4", 2001, {"in": 900}, epochs=2)
    assert [state(tmp_path, seed).kind for seed in (1999, 2000, 2001)] == ["done", "stale", "failed"]
    assert "partial" in state(tmp_path, 2001).reason


def test_another_data_source_is_the_same_run(result_file, tmp_path, folder):
    log_steps(folder, 5)
    path = result_file("mnist_h4", 1999, {"in": 900}, source="bundled")
    moved = path.parents[1] / "data.source=bundled" / "seed1999"
    moved.parent.mkdir()
    path.parent.rename(moved)
    assert state(tmp_path).kind == "done"


@pytest.mark.parametrize("changes", ["data.source=bundled,model.cover=sine", "+augment.x=1,data.source=bundled"])
def test_other_settings_are_another_run(result_file, tmp_path, changes):
    path = result_file("mnist_h4", 1999, {"in": 900}, source="bundled")
    moved = path.parents[1] / changes / "seed1999"
    moved.parent.mkdir()
    path.parent.rename(moved)
    assert state(tmp_path).kind == "missing"
