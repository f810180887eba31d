"""The training code is told apart by what it says, not by when it was committed."""

import pytest

from t3cen.results.code import committed, fingerprint


def test_readers_and_other_files_do_not_count(tmp_path):
    (tmp_path / "nn").mkdir()
    (tmp_path / "tables").mkdir()
    (tmp_path / "nn" / "conv.py").write_text("a = 1")
    before = fingerprint(tmp_path)
    (tmp_path / "tables" / "latex.py").write_text("b = 1")
    (tmp_path / "nn" / "notes.md").write_text("c")
    fingerprint.cache_clear()
    assert fingerprint(tmp_path) == before
    (tmp_path / "nn" / "conv.py").write_text("a = 2")
    fingerprint.cache_clear()
    assert fingerprint(tmp_path) != before


@pytest.mark.parametrize("name", ["conv.c", "native.h"])
def test_compiled_code_counts(tmp_path, name):
    (tmp_path / name).write_text("int a = 1;")
    fingerprint.cache_clear()
    before = fingerprint(tmp_path)
    (tmp_path / name).write_text("int a = 2;")
    fingerprint.cache_clear()
    assert fingerprint(tmp_path) != before


def test_a_commit_that_is_not_here_stands_for_itself():
    assert committed("0123456789abcdef") == "0123456789abcdef"
