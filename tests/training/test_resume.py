"""A run that was stopped or killed anywhere ends with the weights and metrics of one that was not, bit for bit."""

import functools
import logging

import pytest
import torch
from runs import assert_equal, environment, job, result, run_here

from t3cen.training.checkpoints import IDENTITY, resume_point
from t3cen.training.job import in_child
from t3cen.training.signals import Stopped

LENGTHS = {
    "epochs": {"max_epochs": 3},  # of 3 batches, the last one smaller
    "steps": {"max_steps": 8, "max_epochs": None},  # ends within an epoch
    "whole epochs in steps": {"max_steps": 6, "max_epochs": None},
}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    torch.use_deterministic_algorithms(False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The result of an uninterrupted run."""

    @functools.cache
    def of(length):
        folder = tmp_path_factory.mktemp("whole")
        run_here(job(folder, **LENGTHS[length]))
        return result(folder)

    return of


# after one step, in an epoch, at its end, on the first step of the next one, near the end
@pytest.mark.parametrize(("length", "at"), [("epochs", 2), ("epochs", 4), ("epochs", 9), ("steps", 5)])
def test_a_run_that_raised_goes_on_from_its_last_checkpoint(length, at, whole, tmp_path):
    made = job(tmp_path, **LENGTHS[length])
    with pytest.raises(ValueError, match="told to raise"):
        run_here(made, f"{at}:raise")
    assert resume_point(tmp_path / "checkpoints", whole(length)[1][3]) is not None
    run_here(made)
    assert_equal(result(tmp_path), whole(length))


@pytest.mark.parametrize(
    ("length", "at"), [("epochs", 1), ("epochs", 3), ("epochs", 9), ("steps", 8), ("whole epochs in steps", 6)]
)
def test_a_run_asked_to_stop_saves_itself(length, at, whole, tmp_path):
    made = job(tmp_path, steps=100, **LENGTHS[length])
    with pytest.raises(Stopped):
        run_here(made, f"{at}:SIGUSR2")
    assert (tmp_path / "checkpoints" / "last.ckpt").exists()
    assert not (tmp_path / "result.json").exists()
    run_here(made)
    assert_equal(result(tmp_path), whole(length))


@pytest.mark.parametrize("orders", ["3:raise", "1:SIGTERM"])  # a step is two batches, or the last one of an epoch
def test_gradients_summed_over_batches_are_not_lost(orders, tmp_path):
    def made(folder):
        return job(folder, accumulate_grad_batches=2)

    run_here(made(tmp_path / "whole"))
    with pytest.raises((ValueError, Stopped)):
        run_here(made(tmp_path / "stopped"), orders)
    run_here(made(tmp_path / "stopped"))
    assert_equal(result(tmp_path / "stopped"), result(tmp_path / "whole"))


@pytest.mark.fast("batch-epochs", "step of two*-steps")
@pytest.mark.parametrize("length", [{"max_epochs": 4}, {"max_epochs": None, "max_steps": 4}], ids=["epochs", "steps"])
@pytest.mark.parametrize(
    ("images", "settings"),
    [
        (4, {}),
        (10, {"accumulate_grad_batches": 4}),
        (10, {"limit_train_batches": 1, "log_every_n_steps": 1}),
        (10, {"limit_train_batches": 2, "accumulate_grad_batches": 2, "log_every_n_steps": 1}),
    ],
    ids=["batch", "step", "batch of three", "step of two batches of three"],
)
def test_epochs_of_one_batch_or_one_step_are_stopped_in_and_gone_on_with(images, settings, length, tmp_path):
    def made(folder):
        whole = job(folder, **{"steps": 100, **settings, **length})
        whole.config["data"]["train_size"] = images
        return whole

    run_here(made(tmp_path / "whole"))
    for step in (1, 2):  # of its batches the first one, when it was started and when it was gone on with
        with pytest.raises(Stopped):
            run_here(made(tmp_path / "stopped"), "1:SIGTERM")
        assert torch.load(tmp_path / "stopped" / "checkpoints" / "last.ckpt", weights_only=True)["global_step"] == step
    run_here(made(tmp_path / "stopped"))
    assert_equal(result(tmp_path / "stopped"), result(tmp_path / "whole"))


@pytest.mark.parametrize(
    ("settings", "at"),
    [
        ({"val_check_interval": 4, "max_epochs": 2}, 9),
        ({"val_check_interval": 4, "check_val_every_n_epoch": None, "max_epochs": 2}, 13),
        ({"val_check_interval": 3, "accumulate_grad_batches": 2, "max_epochs": 1, "steps": 3}, 8),
        (
            {
                "limit_train_batches": 5,
                "precision": "bf16-mixed",
                "gradient_clip_val": 0.1,
                "max_epochs": 2,
                "log_every_n_steps": 1,
            },
            8,
        ),
    ],
)
def test_a_validation_at_the_step_of_a_checkpoint_is_not_lost(settings, at, tmp_path):
    def made(folder):
        whole = job(folder, **{"steps": 4, **settings})
        whole.config["data"]["train_size"] = 40  # 10 batches an epoch
        return whole

    run_here(made(tmp_path / "whole"))
    with pytest.raises(ValueError, match="told to raise"):
        run_here(made(tmp_path / "stopped"), f"{at}:raise")
    assert (tmp_path / "stopped" / "checkpoints" / "last.ckpt").exists()
    run_here(made(tmp_path / "stopped"))
    assert_equal(result(tmp_path / "stopped"), result(tmp_path / "whole"))


def test_one_changed_bit_costs_one_interval(whole, tmp_path, caplog):
    made, checkpoints = stopped(tmp_path)
    content = bytearray((checkpoints / "last.ckpt").read_bytes())
    content[len(content) // 2] ^= 1
    (checkpoints / "last.ckpt").write_bytes(content)
    with caplog.at_level(logging.INFO):
        run_here(made)
    assert "last.ckpt is damaged" in caplog.text
    assert "previous.ckpt" in caplog.text
    assert_equal(result(tmp_path), whole("epochs"))


def test_stopping_twice_with_loader_processes(whole, tmp_path):
    made = job(tmp_path, workers=2, steps=2, **LENGTHS["epochs"])
    with pytest.raises(Stopped):
        run_here(made, "4:SIGTERM")
    with pytest.raises(ValueError, match="told to raise"):
        run_here(made, "3:raise")
    run_here(made)
    assert len(list(tmp_path.glob("csv/sitting_*"))) == 3
    (weights, rest), (other, other_rest) = result(tmp_path), whole("epochs")
    assert rest == other_rest
    assert all(torch.equal(weights[name], other[name]) for name in other)


def test_kill_9_half_way(whole, tmp_path, monkeypatch):
    made = job(tmp_path, steps=2, **LENGTHS["epochs"])
    for name, value in environment(ORDERS=f"{made.config['seed']}:6:SIGKILL").items():
        monkeypatch.setenv(name, value)
    assert in_child(made) == -9
    assert "SIGKILL" in (tmp_path / "failure.json").read_text()
    monkeypatch.delenv("ORDERS")
    run_here(made)
    assert not (tmp_path / "failure.json").exists()
    assert_equal(result(tmp_path), whole("epochs"))


def stopped(folder):
    made = job(folder, **LENGTHS["epochs"])
    with pytest.raises(ValueError, match="told to raise"):
        run_here(made, "6:raise")
    return made, folder / "checkpoints"


def test_a_truncated_checkpoint_costs_one_interval(whole, tmp_path, caplog):
    made, checkpoints = stopped(tmp_path)
    with (checkpoints / "last.ckpt").open("r+b") as file:
        file.truncate(1000)
    with caplog.at_level(logging.INFO):
        run_here(made)
    assert "last.ckpt is cut short" in caplog.text
    assert "going on from" in caplog.text
    assert "previous.ckpt" in caplog.text
    assert_equal(result(tmp_path), whole("epochs"))


def test_without_any_readable_checkpoint_a_run_begins_anew(whole, tmp_path, caplog):
    made, checkpoints = stopped(tmp_path)
    for name in ("last.ckpt", "previous.ckpt"):
        (checkpoints / name).write_bytes(b"")
    run_here(made)
    assert caplog.text.count("is left out") == 2
    assert_equal(result(tmp_path), whole("epochs"))


def test_a_checkpoint_of_another_configuration_is_not_gone_on_from(tmp_path, caplog):
    made, _ = stopped(tmp_path)
    made.config["optimizer"]["lr"] = 0.01
    run_here(made)
    assert "of another configuration" in caplog.text


def test_checkpoints_load_with_safe_defaults(tmp_path):
    _, checkpoints = stopped(tmp_path)
    found = torch.load(checkpoints / "last.ckpt", weights_only=True)
    assert found["global_step"] == 5
    assert found[IDENTITY]
    assert not [key for key in found if "hyper" in key]


def test_a_finished_run_keeps_its_weights_alone_and_is_not_trained_again(tmp_path, caplog):
    made = job(tmp_path, **LENGTHS["whole epochs in steps"])
    run_here(made)
    assert {path.name for path in (tmp_path / "checkpoints").iterdir()} == {"final.ckpt"}
    moment = (tmp_path / "result.json").stat().st_mtime_ns
    run_here(made, "1:raise")
    assert (tmp_path / "result.json").stat().st_mtime_ns == moment
    made.config["optimizer"]["lr"] = 0.01
    with pytest.raises(ValueError, match=r"another configuration \(optimizer.lr 0.05 -> 0.01\)"):
        run_here(made)
