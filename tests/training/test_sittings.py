"""A run goes on with the code and the data it was begun with, or not at all; its record names every sitting."""

import json

import pytest
from runs import job, run_here

from t3cen.experiments import code
from t3cen.experiments.identity import data_hash
from t3cen.training import provenance
from t3cen.training.sittings import sit_down

CODE = {"commit": "a" * 40, "dirty": False, "code_hash": "1", "code": {"t3cen/nn/norm.py": "1", "t3cen/task.py": "1"}}
DATA = {"source": "files", "root": "/here", "fingerprint": "abc", "sizes": {"train": 10}}


def test_sittings_add_up_from_a_checkpoint_and_begin_anew_without(tmp_path):
    assert len(sit_down(tmp_path, CODE, DATA, goes_on=False)) == 1
    second = sit_down(tmp_path, {**CODE, "commit": "b" * 40, "dirty": True}, {**DATA, "root": "/there"}, goes_on=True)
    assert [(sitting["commit"][0], sitting["dirty"]) for sitting in second] == [("a", False), ("b", True)]
    assert {sitting["data"] for sitting in second} == {data_hash(DATA)}
    assert len(sit_down(tmp_path, CODE, {**DATA, "fingerprint": "def"}, goes_on=False)) == 1


@pytest.mark.parametrize(
    ("changes", "data", "message"),
    [
        ({"code": {**CODE["code"], "t3cen/task.py": "2"}}, DATA, r"the code changed since the run was begun \(t3cen/task.py\)"),
        ({"code": {f"t3cen/{n}.py": "1" for n in "abc"}}, DATA, r"\(t3cen/a.py, t3cen/b.py, t3cen/c.py, 2 more\)"),
        ({}, {**DATA, "fingerprint": "def"}, r"the data changed since the run was begun \(fingerprint 'abc' -> 'def'\)"),
        ({}, {**DATA, "sizes": {"train": 9}}, r"sizes.train 10 -> 9"),
    ],
)
def test_what_changed_is_a_refusal_that_names_it(changes, data, message, tmp_path):
    sit_down(tmp_path, CODE, DATA, goes_on=False)
    before = (tmp_path / "sittings.json").read_text()
    with pytest.raises(ValueError, match=message):
        sit_down(tmp_path, {**CODE, **changes}, data, goes_on=True)
    assert (tmp_path / "sittings.json").read_text() == before


def test_a_checkpoint_of_unknown_code_is_not_gone_on_from(tmp_path):
    with pytest.raises(ValueError, match=r"sittings.json is gone.*delete .*checkpoints to train the run anew"):
        sit_down(tmp_path, CODE, DATA, goes_on=True)


@pytest.mark.parametrize("content", ["{}", '{"code": {}}', "[]", "{"])
def test_a_damaged_note_of_sittings_is_told(content, tmp_path):
    (tmp_path / "sittings.json").write_text(content)
    with pytest.raises(ValueError, match=r"sittings.json is gone or damaged"):
        sit_down(tmp_path, CODE, DATA, goes_on=True)


def test_a_run_is_not_gone_on_with_when_the_code_has_changed(tmp_path, monkeypatch):
    made, parts = job(tmp_path), code.parts
    with pytest.raises(ValueError, match="told to raise"):
        run_here(made, "4:raise")
    with monkeypatch.context() as edited:
        edited.setattr(provenance.code, "parts", lambda config: {**parts(config), "t3cen/task.py": "edited"})
        with pytest.raises(ValueError, match=r"the code changed since the run was begun \(t3cen/task.py\)"):
            run_here(made)
    run_here(made)
    record = json.loads((tmp_path / "result.json").read_text())
    assert [sitting["code_hash"] for sitting in record["sittings"]] == [record["code_hash"]] * 2
    assert record["dirty"] == any(sitting["dirty"] for sitting in record["sittings"])
