"""Weights & Biases mirrors a run and never changes it, however it fails."""

import struct
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
def test_the_offline_file_holds_the_run_and_the_result_is_the_same(plain, tmp_path):
    assert_equal(mirrored(tmp_path), plain)
    [path] = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    config, history, summary, runs = {}, [], {}, []
    for record in records(path):
        runs += [record.run] if record.HasField("run") else []
        config |= {item.key or item.nested_key[0]: item.value_json for item in record.run.config.update}
        config |= {item.key or item.nested_key[0]: item.value_json for item in record.config.update}
        history += (
            [{item.key or item.nested_key[0]: item.value_json for item in record.history.item}] if record.history.item else []
        )
        summary |= {item.key or item.nested_key[0]: item.value_json for item in record.summary.update}
    assert config["name"] == '"mnist_h4"'
    assert "fingerprint" in config["provenance"]
    assert sum("train/loss" in entry for entry in history) == 1
    assert sum("test/shift/error" in entry for entry in history) == 1
    assert "wall_seconds" in summary
    assert not [key for key in summary if key.count("/") == 1 and key.startswith("test/")]  # each metric once
    assert runs[0].run_id == (tmp_path / "wandb" / "run_id").read_text()
    assert {"smoke", "bundled", "mnist_degradation"} <= set(runs[0].tags)


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


def records(path):
    """The records of an offline file: LevelDB's log format after a header of 7 bytes, protocol buffers within."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, whole = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:  # the rest of a block is too short for a chunk
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        whole += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # all of a record, or its last chunk
            record = Record()
            record.ParseFromString(whole)
            whole = b""
            yield record


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
