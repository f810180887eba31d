"""Runs on a GPU: a whole one, one that was stopped and goes on, and two at once. On the CPU tests/training has them."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

PROJECT = Path(__file__).parents[2]
SMALL = ["experiment=mnist_h4", "scale=smoke", "logger.wandb=off", "trainer.accelerator=auto", "data.source=bundled"]

pytestmark = pytest.mark.gpu


def train(folder, *changes):
    command = [sys.executable, str(PROJECT / "train.py"), *SMALL, f"outputs={folder}", *changes]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finished(process):
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return said


def weights(folder):
    (path,) = Path(folder).rglob("final.ckpt")
    return torch.load(path, weights_only=True, map_location="cpu")["state_dict"]


@pytest.mark.parametrize("change", ["trainer.precision=32-true", "trainer.precision=bf16-mixed"])
def test_a_run_that_was_killed_ends_as_one_that_was_not(tmp_path, change):
    long = [change, "trainer.max_epochs=null", "trainer.max_steps=400", "deterministic=true", "checkpoint_every.steps=20"]
    whole, killed = (train(tmp_path / name, *long) for name in ("whole", "killed"))  # two processes on one GPU
    while not list((tmp_path / "killed").rglob("*.ckpt")):
        assert killed.poll() is None, killed.communicate()[0]
    killed.kill()
    killed.communicate()
    finished(whole)
    finished(train(tmp_path / "killed", *long))
    first, second = weights(tmp_path / "whole"), weights(tmp_path / "killed")
    assert [name for name in first if not torch.equal(first[name], second[name])] == []
