"""A sweep on a real SLURM: one run finishes, one dies, one is cancelled, one runs out of time, one is preempted; both go on."""

import dataclasses
import json
import tempfile
import time
from pathlib import Path

import pytest
from cluster import Cluster, Unavailable, install
from runs import assert_equal, environment, folders, result, start, sweep_of, wait_for

from t3cen.results import load
from t3cen.training.job import in_child, read_job

pytestmark = pytest.mark.slurm
SEEDS = (1, 2, 3, 4)
DIES, CANCELLED, TIMED_OUT, PREEMPTED = 2, 3, 4, 5
LAUNCHER = [
    f"hydra.launcher.{key}"
    for key in ("cpus_per_task=1", "mem_gb=1", "gpus_per_node=1", "poll_seconds=1", "max_array_size=3", "timeout_min=10")
]  # submitit takes every signal within the last ten minutes for a time-out
SETTINGS = ["trainer.accelerator=cpu", "checkpoint_every.steps=100", "trainer.max_steps=4", "num_workers=2"]


@pytest.fixture
def cluster():
    try:
        install()
    except Unavailable as why:
        pytest.skip(str(why))
    with tempfile.TemporaryDirectory(prefix="slurm-") as home:
        Path(home).chmod(0o755)  # munge wants its socket where everyone could reach it; pytest's folders are closed
        with Cluster(Path(home)) as running:
            yield running


def begin(cluster, outputs, *more, seeds=SEEDS, **variables):
    paths = {key: cluster.environment[key] for key in ("SLURM_CONF", "PATH")}
    return start(*sweep_of(outputs, seeds, "launcher=slurm", *LAUNCHER, *SETTINGS, *more), **paths, **variables)


def test_a_sweep_on_slurm(cluster, tmp_path):
    """One test, so that all of it finds the same cluster however tests are shared among processes."""
    outputs, marks, alone = tmp_path / "outputs", tmp_path / "marks", tmp_path / "alone"
    marks.mkdir()
    driver = begin(cluster, outputs, ORDERS=f"{DIES}:1:SIGKILL {CANCELLED}:1:wait {TIMED_OUT}:1:wait", MARKS=str(marks))
    for seed, signal in ((CANCELLED, ()), (TIMED_OUT, ("--signal=USR2",))):
        wait_for((marks / str(seed)).exists, driver)
        cluster("scancel", *signal, json.loads((folders(outputs)[seed] / "cluster.json").read_text())["job_id"])
    time.sleep(1)  # the signal is to find the run within a step
    (marks / f"{TIMED_OUT}.go").touch()
    told, _ = driver.communicate(timeout=180)

    failures_are_told_and_stop_nothing(driver.returncode, told, outputs)
    jobs_ran_on_a_copy_of_the_code_with_a_gpu(outputs)
    went_on_as_if_nothing_had_been(folders(outputs)[TIMED_OUT], "SIGUSR2", alone)

    before = finished(outputs)
    driver = begin(cluster, outputs)
    told, _ = driver.communicate(timeout=180)
    assert driver.returncode == 0, told
    assert "2 skipped" in told
    assert {record.seed for record in load(outputs).records} == set(SEEDS)
    assert not list(outputs.rglob("failure.json"))
    assert {seed: finished(outputs)[seed] for seed in before} == before

    outputs = tmp_path / "preempted"
    driver = begin(cluster, outputs, seeds=(PREEMPTED,), ORDERS=f"{PREEMPTED}:1:wait", MARKS=str(marks))
    wait_for((marks / str(PREEMPTED)).exists, driver)
    cluster("sbatch", "--partition=urgent", "--mem=8000", "--wrap=sleep 1", "--output=/dev/null")  # all the memory there is
    time.sleep(5)  # until the scheduler has seen it
    (marks / f"{PREEMPTED}.go").touch()
    told, _ = driver.communicate(timeout=300)
    assert driver.returncode == 0, told
    went_on_as_if_nothing_had_been(folders(outputs)[PREEMPTED], "SIGTERM", tmp_path / "alone too")

    two = ("hydra.launcher.tasks_per_node=2", "hydra.launcher.gpus_per_node=2", "trainer.devices=2")
    driver = begin(cluster, tmp_path / "two", *two, seeds=(1,))
    told, _ = driver.communicate(timeout=180)
    assert driver.returncode == 0, told
    one_run_had_two_processes(folders(tmp_path / "two")[1])


def finished(outputs):
    return {seed: (f / "result.json").stat().st_mtime_ns for seed, f in folders(outputs).items() if (f / "result.json").exists()}


def failures_are_told_and_stop_nothing(status, told, outputs):
    assert status == 1, told
    assert "2 done, 2 failed" in told
    assert set(finished(outputs)) == {record.seed for record in load(outputs).records} == set(SEEDS) - {DIES, CANCELLED}
    for seed, words in ((DIES, "SIGKILL"), (CANCELLED, "CANCELLED")):
        failure = json.loads((folders(outputs)[seed] / "failure.json").read_text())
        assert failure["kind"] == "killed"
        assert words in failure["reason"]


def jobs_ran_on_a_copy_of_the_code_with_a_gpu(outputs):
    [code] = (outputs / ".snapshots").iterdir()
    assert (code / "t3cen" / "training" / "run.py").exists()
    script = next(outputs.rglob(".submitit/**/*.sh")).read_text()
    assert f"export PYTHONPATH={code}" in script
    assert "--gpus-per-node=1" in script


def went_on_as_if_nothing_had_been(folder, signal, alone):
    log = (folder / "train.log").read_text()
    assert f"{signal}: saved step 1" in log
    assert "going on from" in log
    assert len(list(folder.glob("csv/sitting_*"))) == 2
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment().items():
            patch.setenv(name, value)
        assert in_child(dataclasses.replace(read_job(folder), folder=alone)) == 0
    assert_equal(result(folder), result(alone))


def one_run_had_two_processes(folder):
    record = json.loads((folder / "result.json").read_text())
    assert record["config"]["trainer"]["devices"] == 2
    assert {values["total"] for values in record["metrics"]["test"].values()} == {record["config"]["data"]["test_size"]}
    assert (folder / "train.log").read_text().count("result: ") == 1
    assert len(list(folder.glob("csv/sitting_*"))) == 1
