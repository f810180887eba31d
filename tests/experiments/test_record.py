"""A record is whole and consistent, or refused with its reason."""

import json

import pytest

from t3cen.experiments.identity import data_hash
from t3cen.experiments.record import BadRecord, read, sealed


def edited(path, **changes):
    content = json.loads(path.read_text())
    content.update(changes)
    path.write_text(json.dumps(content))
    return path


def test_a_record_reads_back(result_file):
    record = read(result_file("mnist_h4", 1999, {"in": 990, "shift": 900}, source="bundled"))
    assert (record.name, record.scale, record.seed, record.source) == ("mnist_h4", "paper", 1999, "bundled")
    assert record.tests["shift"]["correct"] == 900
    assert record.changes == ()


def test_only_overrides_that_change_the_result_are_changes(result_file):
    overrides = [
        "experiment=mnist_h4",
        "seed=1",
        "+hydra.verbose=true",
        "data.root=/scratch",
        "trainer.accelerator=gpu",
        "optimizer.lr=0.1",
    ]
    assert read(result_file("mnist_h4", 1, {"in": 1}, overrides=overrides)).changes == ("optimizer.lr=0.1",)


TEST = {"error": 0.1, "correct": 900, "total": 1000, "loss": 0.5}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"schema": 3}, "it has schema 3, 1 or 2 expected"),
        ({"schema": 2}, "it has lost its digest"),
        ({"seed": "1999"}, "'seed' is missing or not"),
        ({"config": None}, "'config' is missing or not"),
        ({"data_provenance": {}}, "names no source"),
        ({"status": "running"}, "its status is 'running'"),
        ({"metrics": {"test": {}}}, "no test results"),
        ({"metrics": {"test": {"in": TEST | {"error": float("nan")}}}}, "it holds NaN"),
        ({"metrics": {"test": {"in": TEST | {"loss": float("inf")}}}}, "it holds Infinity"),
        ({"metrics": {"test": {"in": TEST | {"correct": 901}}}}, "'in' does not add up"),
        ({"metrics": {"test": {"in": TEST | {"total": 0}}}}, "'in' does not add up|division"),
        ({"metrics": {"test": {"in": {"error": 0.1}}}}, "'in' lacks"),
        ({"epochs": 4}, "partial: 4 of 5 epochs"),
        ({"epochs": 6}, "it trained 6 epochs, of 5 in its configuration"),
        ({"epochs": 5.0}, "'epochs' is 5.0, not a whole number"),
        ({"steps": None}, "does not say how many steps"),
        ({"seed": True}, "'seed' is missing or not a whole number"),
        ({"seed": 2000}, "its seed is 2000, that of its configuration 1999"),
        ({"name": "mnist_h5"}, "its name is 'mnist_h5', that of its configuration 'mnist_h4'"),
        ({"scale": "laptop"}, "its scale is 'laptop', that of its configuration 'paper'"),
        ({"selection": "best"}, "its selection is 'best', that of its configuration 'last'"),
        ({"wall_seconds": "1"}, "'wall_seconds' is '1', not a number"),
        ({"parameters": -1}, "'parameters' is -1, less than nothing"),
        ({"code": {"t3cen/a.py": "1"}, "code_hash": "2"}, "its code_hash is not that of its code"),
        ({"metrics": {"test": {"in": TEST | {"correct": 900.0}}}}, "'in' counts 900.0 of 1000 correct, whole numbers expected"),
        ({"metrics": {"test": {"in": TEST | {"loss": None}}}}, "'in' has error 0.1 and loss None"),
        ({"metrics": {"test": {"in": TEST}, "validation": {"v": TEST | {"correct": 3}}}}, "validation set 'v' does not add up"),
        ({"data_provenance": {"source": "files", "sizes": {"test/in": 999}}}, "'in' counts 1000 pictures, its data has 999"),
        ({"data_provenance": {"source": "files", "sizes": {"train": 9, "v": 9, "test/in": 1000}}}, "says 5 epochs|'v' is in its"),
        ({"data_provenance": {"source": "files", "sizes": {"test/on": 1000}}}, "'in' is not in its data"),
        ({"data_provenance": {"source": "files", "sizes": {"v": 9, "test/in": 1000}}}, "'v' is in its data and has no result"),
        ({"data_provenance": {"source": "files", "sizes": {"test/in": "9"}}}, "has the sizes"),
        (
            {"steps": 9, "data_provenance": {"source": "files", "sizes": {"train": 9, "test/in": 1000}}},
            "1 an epoch, and says 5 epo",
        ),
        ({"metrics": {"test": [1]}}, "no test results"),
        ({"metrics": {"test": {"in": [0.1]}}}, "'in' lacks"),
        ({"config": {"trainer": None}}, "has the trainer None"),
        ({"config": {"trainer": {"max_epochs": "3"}}}, "trainer.max_epochs '3'"),
        ({"steps": "many"}, "'steps' is 'many'"),
        ({"overrides": "seed=1"}, "'overrides' is 'seed=1'"),
        ({"overrides": [3]}, "no line of a command line"),
        ({"config_hash": "0" * 64}, "config_hash is not that of its configuration"),
    ],
)
def test_what_cannot_be_trusted_is_refused(result_file, changes, reason):
    path = edited(result_file("mnist_h4", 1999, {"in": 900}), **changes)
    with pytest.raises(BadRecord, match=reason):
        read(path)


@pytest.mark.parametrize(("limit", "whole"), [(1, False), (0.5, False), (1.0, True), (None, True)])
def test_sizes_of_sets_that_were_cut_off_are_not_counted(limit, whole, result_file):
    """One batch is written 1, all of them 1.0."""
    trainer = {"max_steps": -1, "max_epochs": 5, "limit_test_batches": limit}
    sizes = {"source": "files", "sizes": {"test/in": 999}}
    path = result_file("mnist_h4", 1999, {"in": 900}, settings={"trainer": trainer}, data_provenance=sizes)
    if whole:
        with pytest.raises(BadRecord, match="'in' counts 1000 pictures"):
            read(path)
    else:
        assert read(path).tests["in"]["total"] == 1000


def test_half_a_file_is_refused(result_file):
    path = result_file("mnist_h4", 1999, {"in": 900})
    path.write_text(path.read_text()[:-40])
    with pytest.raises(BadRecord, match="not whole JSON"):
        read(path)


SITTING = {"commit": "a", "dirty": False, "code_hash": "1"}


@pytest.mark.parametrize(
    ("sitting", "changes", "reason"),
    [
        ({}, {"code_hash": "2"}, "sitting 2 was of other code"),
        ({"data": "0"}, {}, "sitting 2 was of other data"),
        ({"dirty": True}, {}, "'dirty' is False, which its sittings do not say"),
        ({"commit": None}, {}, "sitting 2 is"),
    ],
)
def test_every_sitting_is_of_the_code_and_the_data_of_the_record(sitting, changes, reason, result_file):
    path = result_file("mnist_h4", 1999, {"in": 900}, code_hash="1")
    provenance = json.loads(path.read_text())["data_provenance"]
    first = SITTING | {"data": data_hash(provenance), "code_hash": changes.get("code_hash", "1")}
    whole = [first, first | {"commit": "b"}]
    assert read(edited(path, sittings=whole, **changes)).commits == ("a", "b")
    edited(path, sittings=[first, SITTING | {"data": first["data"]} | sitting])
    with pytest.raises(BadRecord, match=reason):
        read(path)


def test_a_sealed_record_is_what_was_written_whatever_its_spelling(result_file):
    path = result_file("mnist_h4", 1999, {"in": 900}, device="a processor", data_provenance={"source": "files", 10: 1, 9: 2})
    content = json.loads(path.read_text())
    path.write_text(json.dumps(sealed(content), indent=3))
    assert read(path).content["schema"] == 2
    for key, value in {"device": "another processor", "step_seconds": 1.0, "digest": "0" * 64, "schema": 1}.items():
        path.write_text(json.dumps({**sealed(content), key: value}))
        with pytest.raises(BadRecord, match="changed since it was written"):
            read(path)
    with pytest.raises(BadRecord, match="partial"):
        sealed({**content, "epochs": 1})


def test_a_record_in_the_folder_of_another_run_is_refused(result_file, tmp_path):
    path = result_file("mnist_h4", 1999, {"in": 900})
    for wrong in (
        "paper/mnist_h4/seed2000",
        "paper/mnist_h5/seed1999",
        "laptop/mnist_h4/seed1999",
        "paper/mnist_h5/a=1/seed1999",
    ):
        moved = tmp_path / "moved" / wrong / "result.json"
        moved.parent.mkdir(parents=True)
        moved.write_text(path.read_text())
        with pytest.raises(BadRecord, match=r"it lies in .*, and is of paper/mnist_h4, seed 1999"):
            read(moved)
    for right in ("paper/mnist_h4/a=1/seed1999", "paper/mnist_h4/seed1999", "anywhere"):
        moved = tmp_path / "right" / right / "result.json"
        moved.parent.mkdir(parents=True)
        moved.write_text(path.read_text())
        assert read(moved).seed == 1999
