"""Weights & Biases mirrors a run and never changes it, however it fails."""

import sys
import threading
import time
from types import SimpleNamespace

import pytest
from runs import assert_equal, job, result, run_here

from t3cen.training import mirror
from t3cen.training.loggers import mirror as choose


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("off")
    run_here(job(folder, max_epochs=1))
    return result(folder)


def mirrored(folder, mode="offline"):
    made = job(folder, max_epochs=1)
    made.config["logger"]["wandb"] = mode
    run_here(made)
    return result(folder)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_an_offline_run_is_whole_when_it_is_sent_and_its_result_is_the_same(plain, tmp_path, sent):
    assert_equal(mirrored(tmp_path), plain)
    [(run_id, run)] = sent(tmp_path).items()
    assert run_id == (tmp_path / "wandb" / "run_id").read_text()
    assert (run.told["project"], run.told.get("entity")) == ("t3cen", "me")
    assert {"smoke", "bundled", "mnist_degradation"} <= set(run.told["tags"])
    assert (run.config["name"], run.config["provenance"]["config_hash"]) == ("mnist_h4", run.config["provenance"]["config_hash"])
    metrics = [key for line in run.history for key in line if not key.startswith("_")]
    assert metrics.count("test/shift/error") == 1
    assert {"train/loss", "test/in/error", "test/shift/error", "wall_seconds", "step_seconds"} <= set(run.summary)
    assert not [key for key in run.summary if " " in key or (key.startswith("test/") and key.count("/") == 1)]  # each metric once


def named(folder, monkeypatch, outputs, **changes):
    """What wandb is told of a run in this folder."""
    told = {}
    fake = SimpleNamespace(init=lambda **given: told.update(given) or Broken(False), Settings=lambda **_: None)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    made = job(folder)
    made.config["outputs"] = str(outputs)
    made.config["model"].update(changes)
    folder.mkdir(parents=True, exist_ok=True)
    mirror.Mirror(folder, made.config, "offline")
    return told


def test_names_and_groups_are_of_what_a_run_is_and_a_resumed_run_is_one(tmp_path, monkeypatch):
    base = tmp_path / "smoke" / "mnist_h4"
    first = named(base / "seed1999", monkeypatch, tmp_path)
    again = named(base / "seed1999", monkeypatch, tmp_path)
    assert (first["name"], first["group"]) == ("mnist_h4 seed 1999", "smoke mnist_h4")
    assert (again["id"], again["resume"]) == (first["id"], "allow")
    other = named(base / "model.group=h8" / "seed1999", monkeypatch, tmp_path, group="h8")
    assert (other["name"], other["group"]) == ("mnist_h4 model.group=h8 seed 1999", "smoke mnist_h4 model.group=h8")
    assert other["id"] != first["id"]
    elsewhere = [named(tmp_path / "x" / group, monkeypatch, tmp_path, group=group)["group"] for group in ("h2", "h4", "h8")]
    assert len(set(elsewhere)) == 3


def test_without_wandb_the_run_goes_on(plain, tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert_equal(mirrored(tmp_path), plain)
    assert caplog.text.count("Weights & Biases could not begin") == 1


class Broken:
    """A wandb run that fails in `log`, or never comes back from `finish`."""

    id = "x"
    config = SimpleNamespace(update=lambda *a, **k: None)
    summary = SimpleNamespace(update=lambda *a, **k: None)

    def __init__(self, log_fails):
        self.log_fails = log_fails

    def define_metric(self, *_, **__):
        pass

    def log(self, _):
        if self.log_fails:
            raise OSError("disk full")

    def finish(self, exit_code):
        threading.Event().wait(5)


@pytest.mark.parametrize(("log_fails", "what"), [(True, "log (OSError: disk full)"), (False, "end (TimeoutError")])
def test_a_wandb_that_fails_or_hangs_is_given_up(plain, tmp_path, monkeypatch, caplog, log_fails, what):
    fake = SimpleNamespace(init=lambda **_: Broken(log_fails), Settings=lambda **_: None)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    monkeypatch.setattr(mirror, "DEADLINE", 0.5)
    begun = time.monotonic()
    assert_equal(mirrored(tmp_path), plain)
    assert f"could not {what}" in caplog.text
    assert caplog.text.count("the run goes on without it") == 1
    assert time.monotonic() - begun < 60


def test_other_modes_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"logger\.wandb is 'sometimes'; choose one of offline, online, off"):
        choose(tmp_path, {"logger": {"wandb": "sometimes"}})
