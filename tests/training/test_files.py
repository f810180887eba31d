"""Files are whole or absent; a folder has one writer."""

import json
import subprocess
import sys

import pytest

from t3cen.training.files import RunInProgress, only_writer, write_json, writer


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"b": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, {"b": float("nan")})
    with pytest.raises(TypeError):
        write_json(path, {"b": object()})
    assert json.loads(path.read_text()) == {"b": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


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
