"""How a run ends, and what its folder says about it."""

import errno
import json
import logging
import os
import signal
import subprocess
import sys
import time

import pytest
from runs import HERE, PROJECT, job, obeying, run_here

from t3cen.experiments.record import sealed
from t3cen.training.files import only_writer
from t3cen.training.job import BUSY, Child, in_child, in_this_process, read_job
from t3cen.training.outcome import fail, outcome
from t3cen.training.signals import INTERRUPTED, KEYBOARD, Stopped


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


def test_a_process_that_ends_well_without_a_result_is_a_failure(tmp_path, monkeypatch):
    made = job(tmp_path / "run")
    (tmp_path / "sitecustomize.py").write_text("import os; os._exit(0)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert in_child(made) == 1
    assert outcome(made.folder, made.config).reason == "exited: the process ended with status 0 and left no result, see train.log"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGUSR2, signal.SIGINT])
def test_a_run_asked_to_stop_while_it_starts_stops_before_it_begins(tmp_path, number):
    child = Child(job(tmp_path))
    child.ask(number)
    assert child.wait(120) == (KEYBOARD if number == signal.SIGINT else INTERRUPTED)
    assert not (tmp_path / "failure.json").exists()
    assert not list(tmp_path.glob("checkpoints/*"))


@pytest.mark.slow
def test_a_run_whose_driver_dies_at_once_stops(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (PROJECT, HERE))))
    (tmp_path / "job.json").write_text(json.dumps({"config": job(tmp_path, max_epochs=500).config, "overrides": []}))
    code = (
        "import os, sys; from pathlib import Path; from t3cen.training.job import Child, read_job; "
        "Child(read_job(Path(sys.argv[1]))); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    end = time.monotonic() + 120
    while "stopped by SIGTERM" not in (tmp_path / "train.log").read_text():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_a_folder_that_cannot_be_used_says_so(tmp_path, caplog):
    made = job(tmp_path / "run")
    (tmp_path / "run").write_text("in the way")
    assert outcome(made.folder, made.config).reason == f"{tmp_path}/run is a file, a folder is needed; move it away"
    assert here(made) == 1
    assert "could not be left in" in caplog.text
    assert (tmp_path / "run").read_text() == "in the way"


def test_a_full_disk_leaves_a_reason_and_no_draft(tmp_path):
    made = job(tmp_path)
    (tmp_path / "checkpoints").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("t3cen.training.sealed.seal", _full)
        assert here(made) == 1
    assert "No space left" in outcome(tmp_path, made.config).reason
    assert not list((tmp_path / "checkpoints").iterdir())


def _full(_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_what_killed_processes_left_is_removed(tmp_path):
    made = job(tmp_path, max_epochs=1)
    (tmp_path / "checkpoints").mkdir(parents=True)
    left = [
        tmp_path / name for name in (".result.json.x1", ".config.json.x2", ".sittings.json.x3", "checkpoints/.last.ckpt",
                                     "checkpoints/previous.ckpt", ".job.json.x4", ".failure.json.x5", ".cluster.json.x6")
    ]  # fmt: skip
    written = tmp_path / ".job.json.x7"  # by another process that starts the run too, at this moment
    for path in [*left, written]:
        path.write_text("half")
    for path in left[-3:]:
        os.utime(path, (0, 0))
    assert here(made) == 0
    assert written.exists()
    assert {path.name for path in (tmp_path / "checkpoints").iterdir()} == {"final.ckpt"}
    assert not [path for path in left if path.exists()]


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
        (
            "trainer",
            "overfit_batches",
            2,
            "trainer.overfit_batches=2 would replace the order of the training items; leave it out",
        ),
        ("trainer", "logger", False, "trainer.logger is set by the project itself; leave it out"),
        ("trainer", "val_check_interval", "00:00:01:00", "trainer.val_check_interval='00:00:01:00' is a time"),
        (
            "trainer",
            "limit_val_batches",
            0,
            "selection=validation needs validation",
        ),
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


def test_a_result_on_fakes_does_not_stand_in_for_one_on_the_data(tmp_path):
    made = job(tmp_path, max_epochs=1)
    made.config["data"].update(root=str(tmp_path / "data"), source="bundled")
    assert here(made) == 0
    content = json.loads((tmp_path / "result.json").read_text())
    fake = {"data_provenance": {**content["data_provenance"], "source": "fake"}, "sittings": []}
    (tmp_path / "result.json").write_text(json.dumps(sealed({**content, **fake, "dirty": content["dirty"]})))
    assert outcome(tmp_path, made.config).reason == "its result is refused: it is of fake pictures, and the data are not"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "FAKE").touch()
    assert outcome(tmp_path, made.config).state == "done"
    (tmp_path / "data" / "FAKE").unlink()
    assert here(made) == 0
    assert json.loads((tmp_path / "result.json").read_text())["data_provenance"]["source"] == "bundled"
    assert json.loads((tmp_path / "result.refused.json").read_text())["data_provenance"]["source"] == "fake"


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
