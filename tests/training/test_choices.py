"""Optimisers, schedules, callbacks and loggers chosen by name, and files of a person's own."""

import json
import re

import pytest
import torch
from runs import assert_equal, job, result, run_here, train

from t3cen.experiments.composition import compose_with
from t3cen.experiments.record import read
from t3cen.experiments.schema import parse
from t3cen.extras import MissingExtra
from t3cen.training.checks import check
from t3cen.training.loggers import file_loggers
from t3cen.training.schedule import schedule
from t3cen.training.signals import Stopped


@pytest.mark.parametrize(
    ("choice", "target", "keys"),
    [("adam", "Adam", {"lr"}), ("adamw", "AdamW", {"lr", "weight_decay"}), ("sgd", "SGD", {"lr", "momentum", "weight_decay"})],
)
def test_a_chosen_optimiser_has_nothing_of_the_data_sets(choice, target, keys):
    for data in ("cifar10", "mnist"):
        found = compose_with([f"data={data}", f"optimizer={choice}", "optimizer.lr=0.5"])["optimizer"]
        assert found["_target_"] == f"torch.optim.{target}"
        assert set(found) - {"_target_", "_partial_"} == keys
        assert found["lr"] == 0.5


def test_without_a_choice_the_optimiser_is_the_data_sets():
    found = compose_with(["data=cifar10"])
    assert (found["optimizer"]["momentum"], found["scheduler"]) == (0.9, "cosine")
    assert "callbacks" not in found


def rates(chosen, steps):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    made = schedule(chosen)(optimizer, steps)
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        made.step()
    return found


def test_the_steps_of_a_schedule_are_shares_of_the_training():
    chosen = compose_with(["data=mnist", "scheduler=step"])["scheduler"]
    assert rates(chosen, 8) == pytest.approx([1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01])
    with pytest.raises(ValueError, match=r"between 0 and 1, got \[0.5, 30\]"):
        rates({**chosen, "after": [0.5, 30]}, 8)
    assert compose_with(["data=cifar10", "scheduler=none"])["scheduler"] is None
    assert rates(compose_with(["data=mnist", "scheduler=cosine"])["scheduler"], 2) == pytest.approx([1, 0.5])


def stopping(folder, **changes):
    made = job(folder, max_epochs=6)
    made.config["optimizer"]["lr"] = 0.0  # so that nothing gets better
    made.config["callbacks"] = compose_with(["callbacks=early_stopping"])["callbacks"]
    made.config["callbacks"]["early_stopping"].update(patience=2, **changes)
    return made


def test_training_stops_early_and_the_result_is_whole(tmp_path):
    run_here(stopping(tmp_path))
    assert read(tmp_path / "result.json").content["epochs"] == 3


def test_what_stopped_early_stays_stopped(tmp_path):
    made = stopping(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("t3cen.training.outcome.RESULT", "result.json")
        patch.setattr("t3cen.training.run.cost.macs", lambda *a, **k: 1 / 0)  # dies when trained and tested
        with pytest.raises(ZeroDivisionError):
            run_here(made)
    run_here(made)
    assert json.loads((tmp_path / "result.json").read_text())["epochs"] == 3


@pytest.mark.parametrize("settings", [{}, {"val_check_interval": 2}], ids=["at the end of an epoch", "within one"])
def test_what_stopped_early_and_was_asked_to_stop_is_only_tested(settings, tmp_path):
    def made(folder):
        whole = stopping(folder)
        whole.config["trainer"].update(settings)
        return whole

    run_here(made(tmp_path / "whole"))
    steps = read(tmp_path / "whole" / "result.json").content["steps"]
    with pytest.raises(Stopped):
        run_here(made(tmp_path / "stopped"), f"{steps}:SIGTERM")  # in its last batch
    run_here(made(tmp_path / "stopped"))
    assert_equal(result(tmp_path / "stopped"), result(tmp_path / "whole"))


def test_the_other_loggers_are_asked_for(tmp_path, monkeypatch):
    assert compose_with(["data=mnist", "logger=csv"])["logger"]["wandb"] == "off"
    assert compose_with(["data=mnist", "logger=wandb"])["logger"]["wandb"] == "online"
    config = compose_with(["data=mnist", "logger=tensorboard"])
    monkeypatch.setattr("t3cen.training.loggers.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "t3cen\[tensorboard\]"'):
        file_loggers(tmp_path, config)
    assert len(file_loggers(tmp_path, compose_with(["data=mnist"]))) == 1


def logged(folder, chosen):
    made = job(folder, max_epochs=1)
    made.config["logger"] = compose_with(["data=mnist", f"logger={chosen}"])["logger"]
    run_here(made)
    [csv] = folder.glob("csv/sitting_0/metrics.csv")
    return csv.read_text()


def test_a_run_with_the_csv_alone(tmp_path):
    head = logged(tmp_path, "csv").splitlines()[0].split(",")
    assert {"train/loss", "test/shift/error", "validation/validation/error"} <= set(head)
    assert not list(tmp_path.glob("wandb/*"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_run_with_tensorboard(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    logged(tmp_path, "tensorboard")
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert {"train/loss", "test/in/error", "test/shift/error"} <= set(events.Tags()["scalars"])
    [error] = events.Scalars("test/shift/error")
    assert error.value == pytest.approx(read(tmp_path / "result.json").tests["shift"]["error"])


@pytest.mark.fast("name: mine-*")
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("name: mine", "does not begin with the line `# @package _global_`"),
        ("# @package _global_\nmodel: {group: h3}", "sets no name, .* add `name: mine`"),
    ],
)
def test_an_own_experiment_that_lacks_something_is_told(content, told, tmp_path):
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(content)
    done = train("--config-dir", str(tmp_path), "experiment=mine", "data.source=bundled", f"outputs={tmp_path}/out")
    assert done.returncode == 1
    assert re.search(told, done.stderr)
    assert len(done.stderr.splitlines()) == 1


MINE = """# @package _global_
name: mine
defaults: [{override /data: mnist}, {override /optimizer: adamw}]
optimizer: {lr: 3e-4}
"""
TABLE = """
title: Mine
source: own
caption: ""
seeds: [1]
columns: [{label: hue, data: mnist, test: shift}]
rows: [{name: mine_h3, label: H3, model: t3cen, group: h3, set: {optimizer.lr: 3e-4}}]
"""


@pytest.mark.fast("hydra.searchpath")
@pytest.mark.parametrize("way", ["--config-dir", "hydra.searchpath"])
def test_an_own_experiment_is_found(way, tmp_path):
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(MINE)
    given = ["--config-dir", str(tmp_path)] if way == "--config-dir" else [f"hydra.searchpath=[file://{tmp_path}]"]
    done = train(*given, "experiment=mine", "--cfg", "job")
    assert done.returncode == 0, done.stderr
    assert "name: mine" in done.stdout
    assert "lr: 0.0003" in done.stdout


def test_an_own_table_is_a_sweep(tmp_path):
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "mine.yaml").write_text(TABLE)
    done = train("--config-dir", str(tmp_path), "experiment=mnist_mine_h3", "--cfg", "job")
    assert done.returncode == 0, done.stderr
    assert "group: h3" in done.stdout
    (tmp_path / "table" / "mine.yaml").write_text(TABLE.replace("seeds", "sedes"))
    done = train("--config-dir", str(tmp_path), "sweep=mine", "--cfg", "job")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "unknown key 'sedes'; did you mean seeds" in done.stderr


def test_a_number_with_an_exponent_is_a_number_in_a_table():
    [row] = parse("mine", TABLE).sections[0].rows
    assert row.set["optimizer.lr"] == 3e-4
    check({"optimizer": {"lr": row.set["optimizer.lr"]}})
