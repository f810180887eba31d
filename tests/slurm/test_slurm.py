"""A sweep on a real SLURM: one run finishes, one dies, one is cancelled, one runs out of time, is queued again and goes on."""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from cluster import Cluster, Unavailable, install
from runs import PROJECT, assert_equal, environment, folders, result, sweep_of

from t3cen.results import load
from t3cen.training.job import in_child, read_job

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("slurm")]  # one cluster for all
SEEDS = (1, 2, 3, 4)
DIES, CANCELLED, TIMED_OUT = 2, 3, 4
LAUNCHER = [
    f"hydra.launcher.{key}"
    for key in ("cpus_per_task=1", "mem_gb=1", "gpus_per_node=1", "poll_seconds=1", "max_array_size=3", "timeout_min=10")
]  # submitit takes every signal within the last ten minutes for a time-out
SETTINGS = ["trainer.accelerator=cpu", "checkpoint_every.steps=100", "trainer.max_steps=4"]


@pytest.fixture(scope="module")
def cluster():
    try:
        install()
    except Unavailable as why:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(why))
    with tempfile.TemporaryDirectory(prefix="slurm-") as home:
        Path(home).chmod(0o755)  # munge wants its socket where everyone could reach it; pytest's folders are closed
        with Cluster(Path(home)) as running:
            yield running


def start(cluster, outputs, **variables):
    arguments = sweep_of(outputs, SEEDS, "launcher=slurm", *LAUNCHER, *SETTINGS)
    command = [sys.executable, str(PROJECT / "train.py"), *arguments]
    paths = {key: cluster.environment[key] for key in ("SLURM_CONF", "PATH")}
    return subprocess.Popen(
        command, env=environment(**paths, **variables), cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def wait_for(condition, driver, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert driver.poll() is None, driver.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture(scope="module")
def swept(cluster, tmp_path_factory):
    """The first sweep's status and output, and the folders as it left them."""
    outputs, marks = tmp_path_factory.mktemp("outputs"), tmp_path_factory.mktemp("marks")
    orders = f"{DIES}:1:SIGKILL {CANCELLED}:1:wait {TIMED_OUT}:1:wait"
    driver = start(cluster, outputs, ORDERS=orders, MARKS=str(marks))
    for seed, signal in ((CANCELLED, ()), (TIMED_OUT, ("--signal=USR2",))):
        wait_for((marks / str(seed)).exists, driver)
        cluster("scancel", *signal, json.loads((folders(outputs)[seed] / "cluster.json").read_text())["job_id"])
    time.sleep(1)  # the signal is to find the run within a step
    (marks / f"{TIMED_OUT}.go").touch()
    output, _ = driver.communicate(timeout=180)
    failures = {seed: json.loads(p.read_text()) for seed, f in folders(outputs).items() if (p := f / "failure.json").exists()}
    return driver.returncode, output, outputs, failures


def test_what_fails_is_told_and_stops_nothing(swept):
    status, output, outputs, failures = swept
    assert status == 1
    assert set(failures) == {DIES, CANCELLED}
    assert failures[DIES]["kind"] == failures[CANCELLED]["kind"] == "killed"
    assert "SIGKILL" in failures[DIES]["reason"]
    assert "CANCELLED" in failures[CANCELLED]["reason"]
    assert "4 runs: 2 done, 2 failed" in output
    assert {record.seed for record in load(outputs).records} == set(SEEDS) - {DIES, CANCELLED}


def test_a_run_out_of_time_is_queued_again_and_ends_with_the_weights_of_an_uninterrupted_one(swept, tmp_path):
    _, _, outputs, _ = swept
    folder = folders(outputs)[TIMED_OUT]
    assert "saved step 1" in (folder / "train.log").read_text()
    assert "going on from" in (folder / "train.log").read_text()
    assert len(list(folder.glob("csv/sitting_*"))) == 2
    whole = dataclasses.replace(read_job(folder), folder=tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment().items():
            patch.setenv(name, value)
        assert in_child(whole) == 0
    assert_equal(result(folder), result(tmp_path))


def test_jobs_ran_on_a_copy_of_the_code_with_a_gpu(swept):
    _, _, outputs, _ = swept
    [code] = (outputs / ".snapshots").iterdir()
    assert (code / "t3cen" / "training" / "run.py").exists()
    script = next(outputs.glob(".submitit/*/*_submission.sh"), None) or next(outputs.glob(".submitit/*.sh"))
    assert f"export PYTHONPATH={code}" in script.read_text()
    assert "--gpus-per-node=1" in script.read_text()


def test_the_same_command_runs_what_is_left(swept, cluster):
    _, _, outputs, _ = swept
    before = {seed: (f / "result.json").stat().st_mtime for seed, f in folders(outputs).items() if (f / "result.json").exists()}
    driver = start(cluster, outputs)
    output, _ = driver.communicate(timeout=180)
    assert driver.returncode == 0, output
    assert "4 runs: 2 skipped, 2 done" in output or "4 runs: 2 done, 2 skipped" in output
    assert {record.seed for record in load(outputs).records} == set(SEEDS)
    assert not list(outputs.rglob("failure.json"))
    for seed, moment in before.items():
        assert (folders(outputs)[seed] / "result.json").stat().st_mtime == moment
