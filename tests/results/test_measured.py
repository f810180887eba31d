import json

import pytest

from t3cen.results.measured import load, write


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
    found, bad = load(tmp_path, "redundant_lifting")
    assert len(found) == 1
    assert bad[0].path.name == "half.json"
