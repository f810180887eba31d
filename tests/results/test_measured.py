import json
import os

import pytest

from t3cen.results.measured import load, newest, write


def test_round_trip_newest_first(tmp_path):
    write(tmp_path, "training_cost", {"memory/t3cen/h1": 1000.0}, {"device": "a"}, name="a")
    path = write(tmp_path, "training_cost", {"memory/t3cen/h1": 2000.0}, {"device": "b"}, name="b")
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "finished": "2999-01-01"}))
    found, bad = load(tmp_path, "training_cost")
    assert [m.cells["memory/t3cen/h1"] for m in found] == [2000.0, 1000.0]
    assert bad == []
    assert found[0].origin == "device b"


@pytest.mark.parametrize(
    ("table", "cells", "message"),
    [
        ("training_cost", {"memory/t3cen/h2": 1.0}, r"no cell 'memory/t3cen/h2'; did you mean memory/t3cen/h"),
        ("training_cost", {"memory/t3cen/h1": float("nan")}, "a finite number expected"),
        ("hue_shift", {}, "is trained, not measured"),
        ("cost", {}, "no table 'cost'"),
    ],
)
def test_wrong_measurements_are_refused(tmp_path, table, cells, message):
    with pytest.raises(ValueError, match=message):
        write(tmp_path, table, cells, {})


def test_a_broken_file_is_named_not_used(tmp_path):
    path = write(tmp_path, "redundant_lifting", {"full/cifar10": 0.5}, {})
    path.with_name("half.json").write_text(path.read_text()[:20])
    path.with_name("._half.json").write_bytes(b"\x00\x05\x16\x07")  # as macOS leaves
    found, bad = load(tmp_path, "redundant_lifting")
    assert len(found) == len(bad) == 1
    assert bad[0].path.name == "half.json"


def test_figures_that_hold_cells_fill_what_no_measurement_does(tmp_path):
    write(tmp_path, "equivariance_error", {"lifting/published/t3cen": 1.0}, {"device": "a"})
    (tmp_path / "figures").mkdir()
    figure = tmp_path / "figures" / "lifting_error.json"
    cells = {"lifting/published/lcer": 8.5, "lifting/published/t3cen": 2.0}
    numbers = {"setting": "ResNet18", "device": "a GPU", "tables": {"equivariance_error": cells}}
    figure.write_text(json.dumps({"command": "draw it", "commit": "0" * 40, "dirty": True, "numbers": numbers}))
    (tmp_path / "figures" / "other.json").write_text(json.dumps({"command": "x", "numbers": [1, 2]}))
    os.utime(figure, (4e9, 4e9))  # a copy is as new as you like
    found, bad = load(tmp_path, "equivariance_error")
    cells = newest(found)
    assert bad == []
    assert {name: value for name, (value, _) in cells.items()} == {"lifting/published/lcer": 8.5, "lifting/published/t3cen": 1.0}
    assert cells["lifting/published/lcer"][1].origin == (
        "setting ResNet18, device a GPU, command draw it, commit 0000000000 with uncommitted changes"
    )
    assert load(tmp_path, "training_cost") == ([], [])


def test_a_link_among_measurements_has_its_target_left_alone(tmp_path):
    folder = tmp_path / "measured" / "training_cost"
    folder.mkdir(parents=True)
    (tmp_path / "mine.txt").write_text("precious")
    for name in ("latest.json", "latest.partial"):
        (folder / name).symlink_to(tmp_path / "mine.txt")
    write(tmp_path, "training_cost", {"memory/t3cen/h1": 1.0}, {"device": "none"})
    assert (tmp_path / "mine.txt").read_text() == "precious"
    assert load(tmp_path, "training_cost")[0][0].cells == {"memory/t3cen/h1": 1.0}
