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


@pytest.mark.parametrize("looks", [True, False])
def test_jobs_whose_data_are_not_there_are_never_submitted(looks, tmp_path, monkeypatch):
    cluster = pytest.importorskip("t3cen.training.cluster")
    submitted, jobs = [], {number: job(tmp_path / str(number)) for number in (1, 2, 3)}
    monkeypatch.setattr(cluster, "compose", lambda context, config, number: jobs[number])
    monkeypatch.setattr(cluster, "snapshot", lambda outputs: outputs)
    monkeypatch.setattr(cluster, "missing_data", lambda found: {found[1].folder: "MissingData: mnist"})
    monkeypatch.setattr(cluster.Slurm, "_run", lambda self, ready, code: submitted.extend(ready))
    made = cluster.Slurm(look_for_data=looks)
    made.hydra_context = SimpleNamespace()
    made.config = SimpleNamespace(hydra=SimpleNamespace(sweep=SimpleNamespace(dir=tmp_path)))
    made.launch([1, 2, 3], 0)
    assert submitted == [jobs[number] for number in ((1, 3) if looks else (1, 2, 3))]
    assert made.notes == ({jobs[2].folder: "MissingData: mnist"} if looks else {})
