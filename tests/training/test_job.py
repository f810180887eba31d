"""How a run ends, and what its folder says about it."""

import json
import logging
import sys

import pytest
from runs import job, obeying, run_here

from t3cen.training.files import only_writer
from t3cen.training.job import BUSY, in_child, in_this_process, read_job
from t3cen.training.outcome import fail, outcome
from t3cen.training.signals import Stopped


def here(made, orders=""):
    """The exit status of a run in this process, under orders."""
    with obeying(made, orders):
        return in_this_process(made)


def failure(folder):
    return json.loads((folder / "failure.json").read_text())


def test_a_second_equal_run_refuses_and_leaves_the_first_alone(tmp_path, caplog):
    made = job(tmp_path)
    with only_writer(tmp_path):
        assert here(made) == BUSY
        assert outcome(tmp_path, made.config).state == "running"
    assert "is being written by process" in caplog.text
    assert {path.name for path in tmp_path.iterdir()} == {"run.lock"}


def test_the_reason_of_a_failure_is_left_until_the_run_begins_again(tmp_path, caplog):
    made = job(tmp_path, max_epochs=1)
    assert outcome(tmp_path, made.config).state == "missing"
    assert here(made, "1:raise") == 1
    assert failure(tmp_path)["kind"] == "raised"
    assert "faulty_loss.py" in failure(tmp_path)["traceback"]
    assert outcome(tmp_path, made.config).reason == "raised: ValueError: this loss was told to raise"
    [told] = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert told.startswith("this loss was told to raise (traceback in ")

    with pytest.raises(SystemExit):
        here(made, "1:exit")
    assert failure(tmp_path)["kind"] == "exited"
    assert here(made, "2:SIGTERM") == 75
    assert outcome(tmp_path, made.config).state == "unfinished"
    assert here(made) == 0
    assert outcome(tmp_path, made.config).state == "done"


def test_batch_norms_of_several_processes_are_refused(tmp_path, caplog):
    made = job(tmp_path, sync_batchnorm=True)
    assert here(made) == 1
    assert "trainer.sync_batchnorm=True would take the group for the channels" in outcome(tmp_path, made.config).reason


def test_a_run_that_dies_before_it_begins_does_not_give_the_reason_of_last_time(tmp_path, monkeypatch):
    made = job(tmp_path / "run")
    (tmp_path / "run").mkdir()
    fail(made.folder, "raised", "OutOfMemoryError: the reason of last week")
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert in_child(made) == 9
    assert (
        outcome(made.folder, made.config).reason == "exited: the process exited with status 9 and gave no reason, see train.log"
    )
    in_child(made)
    assert (
        outcome(made.folder, made.config).reason == "exited: the process exited with status 9 and gave no reason, see train.log"
    )


def test_what_cannot_be_imported_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "t3cen.training.errors", None)
    with pytest.raises(ImportError):
        in_this_process(job(tmp_path))
    assert failure(tmp_path)["reason"].startswith("ModuleNotFoundError: import of t3cen.training.errors")


@pytest.mark.parametrize(
    ("section", "key", "value", "words"),
    [
        ("data", "source", "files", "prepare_data.py mnist"),
        ("data", "batch_size", 0, "batch_size must be at least 1, got 0"),
        (None, "selection", "test", "selection is 'test'; choose 'last' or a validation set: validation"),
        (None, "scheduler", "cosin", "unknown scheduler 'cosin'"),
        ("checkpoint_every", "minutes", 0, "checkpoint_every.minutes must be positive, got 0"),
        ("model", "group", "h0", "the hue order must be a whole number >= 1, got 0"),
        ("optimizer", "lr", -1, "Invalid learning rate"),
    ],
)
def test_a_bad_setting_is_told_in_one_line(section, key, value, words, tmp_path, caplog):
    made = job(tmp_path)
    made.config["data"]["root"] = str(tmp_path / "nothing")
    (made.config[section] if section else made.config)[key] = value
    assert here(made) == 1
    [told] = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert words in told
    assert "\n" not in told.split(" (traceback")[0]


def test_a_run_cut_short_leaves_no_result_and_a_reason(tmp_path):
    made = job(tmp_path, max_time={"seconds": 0})
    assert here(made) == 1
    assert outcome(tmp_path, made.config).reason.startswith("raised: ValueError: training ended after 0 of 3 epochs")
    assert not (tmp_path / "result.json").exists()


def test_a_result_that_is_refused_is_kept_and_the_run_trained_again(tmp_path):
    made = job(tmp_path, max_epochs=1)
    assert here(made) == 0
    whole = (tmp_path / "result.json").read_text()
    (tmp_path / "result.json").write_text(json.dumps({**json.loads(whole), "epochs": 0}))
    assert outcome(tmp_path, made.config).reason == "its result is refused: it is partial: 0 of 1 epochs"
    assert here(made) == 0
    assert json.loads((tmp_path / "result.refused.json").read_text())["epochs"] == 0
    assert json.loads((tmp_path / "result.json").read_text())["metrics"] == json.loads(whole)["metrics"]


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path, caplog):
    made = job(tmp_path)
    made.config["optimizer"]["lr"] = 1e30
    assert here(made) == 1
    assert "lower optimizer.lr" in caplog.text


def test_a_request_to_stop_passes_through(tmp_path):
    with pytest.raises(Stopped):
        run_here(job(tmp_path), "1:SIGTERM")


def test_jobs_are_handed_over_whole(tmp_path):
    made = job(tmp_path)
    (tmp_path / "job.json").write_text(json.dumps({"config": made.config, "overrides": ["seed=3"]}))
    assert read_job(tmp_path).config == made.config
    assert read_job(tmp_path).overrides == ("seed=3",)
