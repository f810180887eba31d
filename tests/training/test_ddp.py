"""Two processes of one run: every sample counted once, the metrics of one process, one result."""

import json

import pytest
import torch
from runs import environment, job, result, run_here

from t3cen.training.job import in_child
from t3cen.training.outcome import outcome
from t3cen.training.signals import INTERRUPTED


def made(folder, **trainer):
    whole = job(folder, **trainer)
    whole.config["loss"]["frozen"] = True
    whole.config["step_jitter"] = False  # its shifts are drawn in each process
    return whole


@pytest.mark.slow
def test_two_processes_stopped_and_resumed_do_what_one_does(tmp_path, monkeypatch):
    one, two = made(tmp_path / "one"), made(tmp_path / "two", accelerator="cpu", devices=2)
    two.config["data"]["test_size"] = one.config["data"]["test_size"] = 9  # an odd number, shared by two
    run_here(one)
    for name, value in environment(ORDERS=f"{two.config['seed']}:4:SIGTERM").items():
        monkeypatch.setenv(name, value)
    assert in_child(two) == INTERRUPTED
    log = (tmp_path / "two" / "train.log").read_text()
    assert "SIGTERM: saved step 4" in log
    assert not (tmp_path / "two" / "failure.json").exists()

    monkeypatch.delenv("ORDERS")
    assert in_child(two) == 0
    log = (tmp_path / "two" / "train.log").read_text()
    assert log.count("result: ") == 1
    assert "Traceback" not in log
    assert "Warning" not in log
    (weights, (metrics, steps, epochs, _)), (other, (other_metrics, other_steps, other_epochs, _)) = (
        result(tmp_path / "one"), result(tmp_path / "two"))  # fmt: skip
    assert (steps, epochs) == (other_steps, other_epochs)
    for name in weights:
        torch.testing.assert_close(other[name], weights[name], rtol=1e-4, atol=1e-5)
    for stage, sets in metrics.items():
        for name, values in sets.items():
            found = other_metrics[stage][name]
            assert found["total"] == values["total"] == (9 if stage == "test" else found["total"])
            assert found["correct"] == values["correct"]
            assert found["loss"] == pytest.approx(values["loss"], rel=1e-4)
    record = json.loads((tmp_path / "two" / "result.json").read_text())
    assert record["config"]["trainer"]["devices"] == 2


@pytest.mark.slow
def test_a_test_set_smaller_than_the_number_of_processes_is_refused(tmp_path, monkeypatch):
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    two = made(tmp_path, accelerator="cpu", devices=2)
    two.config["data"]["test_size"] = 1
    assert in_child(two) == 1
    assert "has 1 items, fewer than the 2 processes" in outcome(two.folder, two.config).reason
