"""Shared fixtures: quiet, single-threaded, reproducible."""

import copy
import json
import os
import sys
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.experiments.identity import config_hash

# Each worker of pytest has a core. Torch reads this when it is imported, so nothing above may import it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("WANDB_MODE", "offline")
os.environ.setdefault("WANDB_SILENT", "true")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def every_experiment():
    """The name of each; slow are those whose data set, model, augmentation and settings have all come before."""
    seen = set()
    for name, run in all_runs().items():
        parts = {("data", run.data), ("model", run.model), run.augment, *run.changes}
        yield pytest.param(name, marks=pytest.mark.slow if parts <= seen else ())
        seen |= parts


def pytest_generate_tests(metafunc):
    """A test with the argument `experiment` is of every experiment."""
    if "experiment" in metafunc.fixturenames:
        metafunc.parametrize("experiment", list(every_experiment()))


@pytest.hookimpl(tryfirst=True)  # before pytest selects by -m
def pytest_collection_modifyitems(items, config):
    """Tests of SLURM and of a GPU are slow ones, and so are the cases that a mark `fast` does not name."""
    named = {}
    for item in items:
        if {"slurm", "gpu"} & {mark.name for mark in item.iter_markers()}:
            item.add_marker(pytest.mark.slow)
        if fast := item.get_closest_marker("fast"):
            found = {case for case in fast.args if fnmatchcase(item.callspec.id, case)}
            named.setdefault((item.function, fast.args), set()).update(found)
            if not found:
                item.add_marker(pytest.mark.slow)
    if not any("::" in argument for argument in config.args):  # else some cases may be left out
        for (test, cases), found in named.items():
            if unknown := set(cases) - found:
                raise pytest.UsageError(f"{test.__module__}.{test.__name__}: the mark `fast` names no case by {unknown}")


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")


@pytest.fixture(scope="session", autouse=True)
def bundled_digits_are_read_once():
    """Reading them takes longer than a small run on them."""
    from t3cen.data import mnist

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mnist, "bundled_digits", cache(mnist.bundled_digits))
        yield


@pytest.fixture(scope="session")
def fakes(tmp_path_factory):
    """A folder with fakes of every data set in their real formats."""
    from t3cen.data.fakes import write_fakes

    root = tmp_path_factory.mktemp("fakes")
    write_fakes(root)
    return root


@cache
def composed(name, scale):
    return compose(all_runs()[name], scale)


@pytest.fixture
def result_file(tmp_path):
    """Write result files as the trainer does: `result_file("mnist_h4", seed=1999, tests={"shift": 90})` of 1,000 correct."""

    def write(name, seed, tests, *, scale="paper", total=1000, source="files", folder=tmp_path, settings=(), **changes):
        config = copy.deepcopy(composed(name, scale))
        config["seed"] = config["data"]["seed"] = seed
        for key, value in dict(settings).items():
            config[key] = value
        trainer = config["trainer"]
        metrics = {k: {"error": 1 - c / total, "correct": c, "total": total, "loss": 0.5} for k, c in tests.items()}
        record = {
            "schema": 1, "status": "finished", "name": name, "scale": scale, "seed": seed, "overrides": [f"experiment={name}"],
            "metrics": {"test": metrics, "validation": {}}, "config": config, "config_hash": config_hash(config),
            "commit": "0123456789abcdef", "dirty": False, "device": "cpu: a processor", "parameters": 25_000, "macs": 1_000_000,
            "data_provenance": {"name": config["data"]["_target_"].rpartition(".")[2], "source": source},
            "steps": max(trainer["max_steps"] or 0, 0), "epochs": trainer["max_epochs"] or 0,
            "step_seconds": 0.05, "wall_seconds": 60.0, "finished": f"2026-01-01T00:00:{seed % 60:02d}+00:00", **changes,
        }  # fmt: skip
        path = folder / scale / name / f"seed{seed}" / "result.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
        return path

    return write


@pytest.fixture
def sent(monkeypatch, tmp_path):
    """Send the offline runs below a folder to a stand-in for the server, by `t3cen sync`; returns them by id."""
    sys.path.append(str(Path(__file__).parent))
    import wandb
    from wandb_server import KEY, Server

    from t3cen.commands import sync

    with Server() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        monkeypatch.setenv("WANDB_API_KEY", KEY)

        def send(*arguments):
            wandb.teardown()  # it has read the environment
            assert sync.main([str(argument) for argument in arguments]) == 0
            return server.runs

        yield send
    wandb.teardown()
    sys.path.pop()
