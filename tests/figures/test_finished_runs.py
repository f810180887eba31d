import json
from dataclasses import replace

import pytest
import torch

from t3cen.experiments.composition import compose_with
from t3cen.experiments.identity import config_hash
from t3cen.experiments.record import read
from t3cen.figures.finished_runs import Runs, error_rates, held_out_images, trained_network
from t3cen.training.final import FINAL, Saved, save
from t3cen.training.run import make_data, make_network, network_arguments


def _record(outputs, experiment, seed, *, scale="smoke", changes=(), source="bundled", correct=70, code="", **data):
    """A record as a finished run leaves it, written by hand: reading is what is tested here."""
    config = compose_with([f"experiment={experiment}", f"scale={scale}", f"seed={seed}", *changes])
    folder = outputs / scale / experiment / "_".join([*changes, code, *data.values(), f"seed{seed}"])
    folder.mkdir(parents=True)
    tests = {name: {"error": 1 - correct / 100, "correct": correct, "total": 100, "loss": 1.0} for name in ("in", "shift")}
    trainer = config["trainer"]
    content = {
        "schema": 1, "status": "finished", "name": experiment, "scale": scale, "seed": seed, "config": config,
        "config_hash": config_hash(config), "metrics": {"test": tests}, "code_hash": code,
        "data_provenance": {"source": source, **data}, "epochs": trainer["max_epochs"] or 0,
        "overrides": [f"experiment={experiment}", *changes], "steps": max(trainer["max_steps"] or 0, 0),
        "finished": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(content))
    return folder, config


def test_runs_are_found_by_scale_seed_and_settings(tmp_path):
    for seed in (1999, 2000):
        _record(tmp_path, "mnist_h4", seed, correct=seed - 1930)
    _record(tmp_path, "mnist_h4", 2001, changes=("optimizer.lr=0.5",))
    runs = Runs("smoke", str(tmp_path))
    found = runs.get(["mnist_h4"], [1999, 2000])["mnist_h4"]
    assert [record.seed for record in found] == [1999, 2000]
    assert found[0].tests["shift"]["correct"] == 69
    changed = runs.get(["mnist_h4 optimizer.lr=0.5"], [2001])["mnist_h4 optimizer.lr=0.5"]
    assert changed[0].changes == ("optimizer.lr=0.5",)
    fast = Runs("smoke", str(tmp_path), settings=("optimizer.lr=0.5",))
    assert fast.get(["mnist_h4"], [2001])
    assert fast.caption([2001], "bundled") == "n = 1, smoke scale, bundled pictures, optimizer.lr=0.5"


def test_settings_count_and_not_their_spelling(tmp_path):
    _record(tmp_path, "mnist_h4", 1999, changes=("step_jitter=True", "optimizer.lr=0.003"))  # as in a sweep
    runs = Runs("smoke", str(tmp_path))
    assert runs.get(["mnist_h4 step_jitter=true optimizer.lr=3e-3"], [1999])
    with pytest.raises(FileNotFoundError):
        runs.get(["mnist_h4 step_jitter=true"], [1999])


@pytest.mark.parametrize(
    ("scale", "name", "seed"), [("laptop", "mnist_h4", 1999), ("smoke", "mnist_h3", 1999), ("smoke", "mnist_h4", 2001)]
)
def test_missing_runs_are_named_with_the_command_that_trains_them(tmp_path, scale, name, seed):
    _record(tmp_path, "mnist_h4", 1999)
    with pytest.raises(FileNotFoundError, match=rf"train.py --multirun experiment={name} seed={seed} scale={scale}"):
        Runs(scale, str(tmp_path)).get([name], [seed])


def test_records_of_another_configuration_do_not_count(tmp_path):
    folder, config = _record(tmp_path, "mnist_h4", 1999)
    content = json.loads((folder / "result.json").read_text())
    content["config"] = {**config, "selection": "validation"}
    content["config_hash"] = config_hash(content["config"])
    (folder / "result.json").write_text(json.dumps(content))
    with pytest.raises(FileNotFoundError):
        Runs("smoke", str(tmp_path)).get(["mnist_h4"], [1999])


def test_sources_are_never_mixed(tmp_path):
    _record(tmp_path, "mnist_h4", 1999, source="files")
    _record(tmp_path, "mnist_h3", 1999)
    with pytest.raises(FileNotFoundError):
        Runs("smoke", str(tmp_path)).get(["mnist_h4", "mnist_h3"], [1999])


def test_training_codes_are_not_mixed(tmp_path):
    _record(tmp_path, "mnist_h4", 1999, code="old", correct=60)
    _record(tmp_path, "mnist_h4", 2000, code="old", correct=61)
    _record(tmp_path, "mnist_h4", 2000, code="new", correct=90)
    runs = Runs("smoke", str(tmp_path))
    assert [r.code for r in runs.get(["mnist_h4"], [1999, 2000])["mnist_h4"]] == ["old", "old"]
    _record(tmp_path, "mnist_h4", 2001, code="new")
    with pytest.raises(FileNotFoundError, match="seed=2001 "):
        runs.get(["mnist_h4"], [1999, 2000, 2001])


def test_data_of_one_source_that_differ_are_not_mixed(tmp_path):
    for experiment, kinds in {"mnist_h4": ("first", "other"), "mnist_z2cnn": ("other",)}.items():
        for kind in kinds:
            _record(tmp_path, experiment, 1999, fingerprint=kind)
    _record(tmp_path, "mnist_h3", 1999, fingerprint="first")
    runs = Runs("smoke", str(tmp_path))
    found = runs.get(["mnist_h4", "mnist_z2cnn"], [1999])
    assert {r.content["data_provenance"]["fingerprint"] for records in found.values() for r in records} == {"other"}
    with pytest.raises(FileNotFoundError):
        runs.get(["mnist_h3", "mnist_z2cnn"], [1999])


def test_the_weights_are_those_of_the_checkpoint(tmp_path):
    folder, config = _record(tmp_path, "mnist_h4", 1999)
    record = Runs("smoke", str(tmp_path)).get(["mnist_h4"], [1999])["mnist_h4"][0]
    with pytest.raises(FileNotFoundError, match=r"no checkpoints/final.ckpt"):
        trained_network(record)
    saved = make_network(config, make_data(config))
    with torch.no_grad():
        for parameter in saved.parameters():
            parameter.add_(0.1)
    (folder / "checkpoints").mkdir()
    state = {f"network.{name}": value for name, value in saved.state_dict().items()}
    data = make_data(config)
    description = Saved(
        config["backbone"], network_arguments(config, data), list(data.class_names), data.image_size, config_hash(config)
    )
    save(folder / FINAL, state, description)
    network, data = trained_network(record)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), saved.parameters(), strict=True))
    images, labels = held_out_images(data, "in", 6)
    answers = network(images).argmax(1)
    assert error_rates(network, images, answers, [lambda x: x, lambda x: 1 - x])[0] == 0
    assert error_rates(network, images, labels, [lambda x: x], batch=4)[0] == (answers != labels).double().mean()
    save(folder / FINAL, state, replace(description, config_hash="0" * 64))
    with pytest.raises(ValueError, match="holds the weights of another run"):
        trained_network(record)


def test_a_record_that_names_what_conf_does_not_makes_nothing(tmp_path, monkeypatch):
    folder, config = _record(tmp_path, "mnist_h4", 1999)
    config["data"]["root"] = {"_target_": "pandas.read_pickle", "filepath_or_buffer": "here"}
    content = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**content, "config": config, "config_hash": config_hash(config)}))
    (folder / "checkpoints").mkdir()
    save(folder / FINAL, {}, Saved(config["backbone"], {}, [], 28, config_hash(config)))
    monkeypatch.setattr("t3cen.load", lambda path: None)
    with pytest.raises(ValueError, match=r"data.root._target_='pandas.read_pickle', which no file of conf/ has"):
        trained_network(read(folder / "result.json"))
