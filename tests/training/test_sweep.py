"""Sweeps in which runs die in every way: the others finish, the reason is left, the next call runs what is left."""

import json
import shutil
import signal
import time

import pytest
from runs import folders, start, sweep_of, train, wait_for

WAYS = {"raise": ("raised", "told to raise"), "exit": ("exited", "status 3"), "SIGKILL": ("killed", "SIGKILL")}


def finished(outputs):
    return {seed: (f / "result.json").stat().st_mtime_ns for seed, f in folders(outputs).items() if (f / "result.json").exists()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("launcher", "ways"),
    [("basic", ("raise", "exit")), ("joblib", ("SIGKILL", "exit")), ("local", ("SIGKILL", "raise"))],
)
def test_what_dies_stops_nothing_and_is_run_again(launcher, ways, tmp_path):
    dying = dict(enumerate(ways, start=1))
    seeds = [*dying, len(ways) + 1]  # the last one is well
    arguments = sweep_of(tmp_path, seeds, f"launcher={launcher}")

    first = train(*arguments, ORDERS=" ".join(f"{seed}:1:{way}" for seed, way in dying.items()))
    assert first.returncode == 1, first.stderr
    assert f"{len(seeds)} runs: " in first.stderr
    assert f"{len(ways)} failed" in first.stderr
    done = finished(tmp_path)
    assert set(done) == {seeds[-1]}
    for seed, way in dying.items():
        failure = json.loads((folders(tmp_path)[seed] / "failure.json").read_text())
        kind, words = WAYS[way]
        assert failure["kind"] == kind
        assert words in failure["reason"]
        assert words in first.stderr

    second = train(*arguments)
    assert second.returncode == 0, second.stderr
    assert "1 skipped" in second.stderr
    assert set(finished(tmp_path)) == set(seeds)
    assert finished(tmp_path)[seeds[-1]] == done[seeds[-1]]
    assert not list(tmp_path.rglob("failure.json"))


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_folder_that_cannot_be_used_is_the_trouble_of_its_run_alone(launcher, tmp_path):
    arguments = sweep_of(tmp_path, (1, 2), f"launcher={launcher}")
    assert train(*arguments).returncode == 0
    folder = folders(tmp_path)[1]
    shutil.rmtree(folder)
    folder.write_text("in the way")
    shutil.rmtree(folders(tmp_path)[2])

    done = train(*arguments)
    told = " ".join(done.stderr.split())
    assert done.returncode == 1
    assert "1 failed, 1 done" in told
    assert "mnist_z2cnn seed 1: cannot be started: " in done.stdout + done.stderr
    assert "seed 2: cannot be started" not in done.stdout + done.stderr
    assert set(finished(tmp_path)) == {2}


@pytest.mark.slow
def test_a_stopped_sweep_lets_its_runs_save_themselves(tmp_path):
    outputs, marks = tmp_path / "outputs", tmp_path / "marks"
    marks.mkdir()
    driver = start(*sweep_of(outputs, (1, 2, 3), "launcher=joblib"), ORDERS="1:1:wait 2:1:wait", MARKS=str(marks))
    wait_for(lambda: (marks / "1").exists() and (marks / "2").exists(), driver)
    driver.send_signal(signal.SIGINT)
    time.sleep(1)  # the runs are to hear of it within a step
    for seed in (1, 2):
        (marks / f"{seed}.go").touch()
    told, _ = driver.communicate(timeout=120)
    assert driver.returncode == 130, told
    assert "2 unfinished, 1 missing" in told
    assert "the same command goes on" in told
    for seed in (1, 2):
        assert "SIGTERM: saved step 1" in (folders(outputs)[seed] / "train.log").read_text()
        assert (folders(outputs)[seed] / "checkpoints" / "last.ckpt").exists()
        assert not (folders(outputs)[seed] / "failure.json").exists()
