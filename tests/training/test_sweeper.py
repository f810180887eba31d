"""What the sweeper hands to a launcher, and what it makes of its troubles."""

import json

import pytest
from hydra import initialize_config_dir
from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode

from t3cen.experiments import register
from t3cen.experiments.identity import config_hash
from t3cen.project import conf_dir
from t3cen.training.folders import register_resolvers
from t3cen.training.outcome import fail
from t3cen.training.plan import compose as compose_job
from t3cen.training.signals import Stopped


def record_of(job):
    """A whole record of a job, as records.read wants it."""
    config, test = job.config, {"error": 0.0, "correct": 1, "total": 1, "loss": 0.5}
    named = {key: config[key] for key in ("name", "scale", "seed")}
    hashed = {"schema": 1, "config": config, "config_hash": config_hash(config)}
    length = {"steps": max(config["trainer"]["max_steps"] or 0, 0), "epochs": config["trainer"]["max_epochs"] or 0}
    return {**named, **hashed, **length, "metrics": {"test": {"in": test}}, "data_provenance": {"source": "bundled"}}


class Recorder:
    """A launcher that finishes every run, but does as told for some seeds."""

    def __init__(self, context, config, tricks=None):
        self.context, self.config, self.tricks = context, config, tricks or {}
        self.calls = []

    def launch(self, job_overrides, initial_job_idx):
        jobs = [compose_job(self.context, self.config, overrides) for overrides in job_overrides]
        self.calls.append([job.config["seed"] for job in jobs])
        for job in jobs:
            trick = self.tricks.pop(job.config["seed"], None)
            if trick is not None:
                trick(job)
                continue
            job.folder.mkdir(parents=True, exist_ok=True)
            (job.folder / "result.json").write_text(json.dumps(record_of(job)))
        return []


@pytest.fixture
def sweep(tmp_path):
    """`sweep("seed=1,2", max_batch_size=None, tricks={seed: function})` -> the recorder, after the sweep has ended."""
    register()
    register_resolvers()
    Plugins.instance()
    from t3cen.training.sweeper import Sweep

    def run(*arguments, max_batch_size=None, tricks=None):
        GlobalHydra.instance().clear()
        with initialize_config_dir(version_base="1.3", config_dir=str(conf_dir())):
            loader = GlobalHydra.instance().config_loader()
            fixed = ["hydra.mode=MULTIRUN", f"outputs={tmp_path}"]
            config = loader.load_configuration("train", fixed, RunMode.MULTIRUN)
            sweeper = Sweep(max_batch_size)
            sweeper.config = config
            sweeper.hydra_context = HydraContext(loader, Callbacks())
            sweeper.launcher = Recorder(sweeper.hydra_context, config, tricks)
            status = 0
            try:
                sweeper.sweep(["experiment=mnist_z2cnn", "scale=smoke", f"outputs={tmp_path}", *arguments])
            except SystemExit as ending:
                status = ending.code
        return sweeper.launcher.calls, status

    return run


def test_each_run_is_started_once_in_chunks(sweep, capsys):
    calls, status = sweep("seed=1,2,1,3", max_batch_size=2)
    assert calls == [[1, 2], [3]]
    assert status == 0
    assert "3 runs: 3 done" in capsys.readouterr().err


def test_finished_runs_are_skipped_and_other_settings_are_other_runs(sweep, capsys):
    sweep("seed=1,2")
    calls, status = sweep("seed=1,2,3")
    assert calls == [[3]]
    assert status == 0
    assert "1 done" in capsys.readouterr().err
    assert sweep("seed=1,2,3") == ([], 0)
    assert sweep("seed=1", "trainer.accelerator=cpu", "checkpoint_every.minutes=1", "logger.wandb_project=x") == ([], 0)
    assert sweep("seed=1", "trainer.max_steps=3") == ([[1]], 0)


def test_a_launcher_that_fails_is_told_about_and_given_what_it_left(sweep, capsys):
    def lose_a_worker(job):
        raise RuntimeError("a worker is gone")

    calls, status = sweep("seed=1,2,3", tricks={2: lose_a_worker})
    assert calls == [[1, 2, 3], [2, 3]]
    assert status == 0

    def refuse(job):
        raise RuntimeError("sbatch: invalid partition")

    calls, status = sweep("seed=4,5", tricks={4: refuse})
    assert calls == [[4, 5]]
    assert status == 1
    told = capsys.readouterr().err
    assert "never started: RuntimeError: sbatch: invalid partition" in told
    assert "2 missing" in told


def test_failures_are_reported(sweep, capsys):
    def die(job):
        job.folder.mkdir(parents=True, exist_ok=True)
        fail(job.folder, "killed", "killed by SIGKILL")

    _, status = sweep("seed=1,2", tricks={1: die})
    assert status == 1
    told = capsys.readouterr().err
    assert "killed by SIGKILL" in told
    assert "1 failed, 1 done" in told


def test_a_request_to_stop_ends_the_sweep(sweep, capsys):
    def stop(job):
        raise Stopped(2)

    calls, status = sweep("seed=1,2,3", max_batch_size=1, tricks={2: stop})
    assert calls == [[1], [2]]
    assert status == 130
    assert "2 missing" in capsys.readouterr().err


def test_a_result_that_tables_refuse_is_not_done(sweep, tmp_path, capsys):
    sweep("seed=1")
    [path] = tmp_path.rglob("result.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "steps": 1, "epochs": 0}))

    def die(job):
        raise RuntimeError("no node")

    assert sweep("seed=1", tricks={1: die}) == ([[1]], 1)
    assert "its result is refused: it is partial: 1 of" in " ".join(capsys.readouterr().err.split())
    assert sweep("seed=1") == ([[1]], 0)


def test_a_result_of_another_configuration_is_left_alone_and_told_about(sweep, tmp_path, capsys):
    sweep("seed=1")
    [path] = tmp_path.rglob("result.json")
    record = json.loads(path.read_text())
    record["config"]["optimizer"]["lr"] = 7.0
    record["config_hash"] = config_hash(record["config"])
    path.write_text(json.dumps(record))
    calls, status = sweep("seed=1")
    assert calls == []
    assert status == 1
    assert "optimizer.lr 7.0 -> 0.001" in " ".join(capsys.readouterr().err.split())
