"""Every record under a folder is read, or named with why not."""

import pytest

from t3cen.results import load


def test_a_link_to_nothing_is_refused(tmp_path):
    (tmp_path / "result.json").symlink_to(tmp_path / "gone")
    assert [item.reason for item in load(tmp_path).refused] == ["it cannot be read (No such file or directory)"]


def test_load_keeps_the_good_and_names_the_bad(result_file, tmp_path):
    result_file("mnist_h4", 1999, {"in": 900})
    bad = result_file("mnist_h4", 2000, {"in": 900}, epochs=3)
    results = load(tmp_path)
    assert [record.seed for record in results.records] == [1999]
    assert [(item.path, item.reason) for item in results.refused] == [(bad, "it is partial: 3 of 5 epochs")]


def test_no_folder_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="train something first"):
        load(tmp_path / "nothing")
