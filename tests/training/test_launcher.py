"""A sweep says how far it is, a line for each run that ends and none between."""

import logging
from types import SimpleNamespace

import pytest
from runs import job

from t3cen.training import launcher


class Instant:
    """A child that ends at the third look."""

    note = ""

    def __init__(self, made):
        self.job, self.looks = made, 0

    def wait(self, seconds):
        self.looks += 1
        return 0 if self.looks == 3 else None


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_line_for_each_run_that_ends(at_once, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(launcher, "Child", Instant)
    monkeypatch.setattr(launcher, "compose", lambda context, config, number: job(tmp_path / str(number)))
    caplog.set_level(logging.INFO)
    made = launcher.Processes(at_once)
    made.setup(hydra_context=SimpleNamespace(), task_function=lambda config: None, config=SimpleNamespace())
    made.launch([1, 2, 3, 4], 0)
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("runs: ")]
    counts = [int(line.split()[1]) for line in lines]
    assert counts == list(range(0, 5, at_once))
    assert all(line.endswith(" left") for line in lines)
