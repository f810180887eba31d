"""A record is whole and consistent, or refused with its reason."""

import json

import pytest

from t3cen.experiments.record import BadRecord, read


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


def test_half_a_file_is_refused(result_file):
    path = result_file("mnist_h4", 1999, {"in": 900})
    path.write_text(path.read_text()[:-40])
    with pytest.raises(BadRecord, match="not whole JSON"):
        read(path)
