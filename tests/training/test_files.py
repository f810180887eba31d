"""Files are whole or absent; a folder has one writer."""

import json
import os
import signal
import subprocess
import sys

import pytest
from runs import job, run_here

from t3cen.training.files import RunInProgress, only_writer, write_json, write_text, writer
from t3cen.training.job import Child


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"b": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, {"b": float("nan")})
    with pytest.raises(TypeError):
        write_json(path, {"b": object()})
    assert json.loads(path.read_text()) == {"b": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


LEAVES_A_LOADER = """
import os, sys, time
from pathlib import Path
from t3cen.training.files import only_writer
with only_writer(Path(sys.argv[1])):
    if os.fork() == 0:
        print("held", flush=True)  # by the loader: it has let go of the lock
        time.sleep(30)
        os._exit(0)
    time.sleep(30)
"""


def test_what_a_dead_run_leaves_behind_does_not_hold_its_lock(tmp_path):
    pipes = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen([sys.executable, "-c", LEAVES_A_LOADER, str(tmp_path)], **pipes) as run:
        assert run.stdout.readline() == "held\n"
        assert writer(tmp_path) is not None
        run.kill()
        run.wait()
        assert writer(tmp_path) is None
        os.killpg(run.pid, signal.SIGKILL)


def test_a_lock_that_is_a_link_is_refused_and_its_target_kept(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.lock").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(OSError, match=r"run\.lock is a symbolic link; delete it"), only_writer(tmp_path / "run"):
        pass
    with pytest.raises(OSError, match="is a symbolic link"):
        writer(tmp_path / "run")
    assert (tmp_path / "mine.txt").read_text() == "precious"


@pytest.mark.parametrize("name", ["train.log", "job.json", "checkpoints/.last.ckpt", "checkpoints/.final.ckpt", "failure.json"])
def test_no_link_in_a_folder_has_its_target_written_to(name, tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    path = tmp_path / "run" / name
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "mine.txt")
    if name == "train.log":
        with pytest.raises(OSError, match=r"train\.log is a symbolic link; delete it"):
            Child(job(tmp_path / "run"))
    else:
        run_here(job(tmp_path / "run", max_epochs=1))
    assert (tmp_path / "mine.txt").read_text() == "precious"


HOLD = """
import sys, time
from pathlib import Path
from t3cen.training.files import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(30)
"""


def test_a_second_writer_is_refused_until_the_first_is_gone_however_it_went(tmp_path):
    assert writer(tmp_path) is None
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "held\n"
        assert f"process {first.pid} on " in writer(tmp_path)
        with (
            pytest.raises(RunInProgress, match=f"is being written by process {first.pid} on .*; wait for it or stop it first"),
            only_writer(tmp_path),
        ):
            pass
        first.kill()
    assert writer(tmp_path) is None
    with only_writer(tmp_path):
        assert writer(tmp_path) is not None


def test_what_cannot_be_written_is_named_not_its_draft(tmp_path):
    path = tmp_path / "nowhere" / "a.md"
    with pytest.raises(OSError, match="No such file") as caught:
        write_text(path, "text")
    assert caught.value.filename == str(path)
