"""Small runs for tests: composed in a moment, over in a second, every part of training in them."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import torch

from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.training import signals
from t3cen.training.plan import Job

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]


def settings(workers=0, steps=1, **trainer):
    """Hue-shift MNIST, 10 digits in batches of 4, with momentum, cosine, jitter and best weights: all that can go wrong."""
    config = compose(all_runs()["mnist_h4"], "smoke")
    config["logger"]["wandb"] = "off"
    config["loss"] = {"_target_": "faulty_loss.loss", "_partial_": True, "seed": config["seed"]}
    config["data"].update(batch_size=4, train_size=10, test_size=8, num_workers=workers)
    config["optimizer"].update(lr=0.05, momentum=0.9)
    config.update(scheduler="cosine", step_jitter=True, selection="validation")
    config["checkpoint_every"] = {"minutes": 5, "steps": steps}
    config["trainer"].update(max_steps=-1, max_epochs=3)
    config["trainer"].update(trainer)
    return config


def job(folder, **changes):
    return Job(settings(**changes), Path(folder), ())


def result(folder):
    """What two equal runs have in common: weights, metrics, and how long they trained."""
    weights = torch.load(Path(folder, "checkpoints", "final.ckpt"), weights_only=True)["state_dict"]
    record = json.loads(Path(folder, "result.json").read_text())
    return weights, (record["metrics"], record["steps"], record["epochs"], record["config_hash"])


def assert_equal(first, second):
    (weights, rest), (other_weights, other_rest) = first, second
    assert rest == other_rest
    assert weights.keys() == other_weights.keys()
    different = [name for name, value in weights.items() if not torch.equal(value, other_weights[name])]
    assert not different


def environment(**variables):
    return {**os.environ, "PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1", "COLUMNS": "200", **variables}


def train(*arguments, **variables):
    """`python train.py ...` with its output as text."""
    return subprocess.run(
        _command(arguments), env=environment(**variables), cwd=PROJECT, capture_output=True, text=True, check=False
    )


def start(*arguments, **variables):
    """The same, going on; its output is one stream."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        _command(arguments), env=environment(**variables), cwd=PROJECT, stdout=pipe, stderr=subprocess.STDOUT, text=True
    )


def _command(arguments):
    return [sys.executable, str(PROJECT / "train.py"), *arguments]


def wait_for(condition, driver, seconds=240):
    """Until the condition holds; the driver must not end before."""
    end = time.monotonic() + seconds
    while not condition():
        assert driver.poll() is None, driver.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.1)


def sweep_of(outputs, seeds, *arguments):
    """Arguments of a sweep of tiny runs, one a seed, whose loss takes orders."""
    return ["-m", "experiment=mnist_z2cnn", "scale=smoke", f"outputs={outputs}", f"seed={','.join(map(str, seeds))}",
            "loss._target_=faulty_loss.loss", "+loss.seed=${seed}", "logger.wandb=off", *arguments]  # fmt: skip


def folders(outputs):
    """The folder of each seed of such a sweep."""
    return {int(path.name.removeprefix("seed")): path for path in Path(outputs).glob("smoke/mnist_z2cnn/*/seed*")}


@contextmanager
def obeying(made, orders):
    """The loss of the job, in this process, takes `orders`, each `<step>:<what>`."""
    import faulty_loss

    faulty_loss.calls = 0
    before = os.environ.get("ORDERS", "")
    os.environ["ORDERS"] = " ".join(f"{made.config['seed']}:{order}" for order in orders.split())
    try:
        yield
    finally:
        os.environ["ORDERS"] = before
        forget()


def forget():
    """As if this process had never been asked to stop."""
    signals._first = None
    signals._noted.clear()


def run_here(made, orders=""):
    """Run a job in this process, under orders."""
    from t3cen.training.run import run

    with obeying(made, orders):
        run(made)
