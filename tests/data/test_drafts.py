"""Drafts become files when they are whole; those of killed processes do not stay, those of others are left alone."""

import os
import subprocess
import sys

import pytest

from t3cen.data.drafts import draft

WRITES = """
import sys, time
from pathlib import Path
from t3cen.data.drafts import draft
with draft(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("begun", flush=True)
    time.sleep(30)
"""


def test_a_draft_becomes_the_file_or_nothing(tmp_path):
    target = tmp_path / "folder" / "a.npy"
    with draft(target) as file:
        file.write(b"whole")
        assert not target.exists()
    assert target.read_bytes() == b"whole"
    with pytest.raises(TypeError), draft(target) as file:
        file.write("no bytes")
    assert target.read_bytes() == b"whole"
    assert os.listdir(target.parent) == ["a.npy"]


def test_what_a_killed_process_left_is_removed_and_what_another_writes_is_not(tmp_path):
    target = tmp_path / "a.npy"
    with subprocess.Popen([sys.executable, "-c", WRITES, str(target)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "begun\n"
        [theirs] = tmp_path.glob("*.part")
        with draft(target):
            assert theirs.exists()
        other.kill()
    assert theirs.exists()
    with draft(target):
        assert not theirs.exists()
