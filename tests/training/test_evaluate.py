"""Weights tested again give the numbers of their run, and are tested on other data."""

import json
import shutil
import subprocess
import sys

import pytest
from runs import job, run_here

from t3cen.commands.eval import main
from t3cen.experiments.record import read
from t3cen.training.evaluate import evaluate


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("run")
    run_here(job(made, max_epochs=2))
    return made


def test_its_own_test_sets_give_the_numbers_of_the_run(folder):
    tests = read(folder / "result.json").tests
    assert evaluate(folder) == tests
    assert evaluate(folder / "checkpoints" / "final.ckpt") == tests


def test_its_own_data_with_other_settings(folder, tmp_path, capsys):
    numbers = tmp_path / "numbers.json"
    assert main([str(folder), "data.test_size=5", "--to", str(numbers)]) == 0
    assert capsys.readouterr().out.count(" of 5\n") == 2
    assert {test["total"] for test in json.loads(numbers.read_text())["test"].values()} == {5}


def test_the_test_sets_of_another_data_set(folder, fakes):
    tests = evaluate(folder, ["data=cifar10", f"data_root={fakes}", "data.test_size=6"])
    assert set(tests) != {"in", "shift"}
    assert {test["total"] for test in tests.values()} == {6}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["data=pets"], "the network tells 10 classes apart, pets has 37; choose other data"),
        (["model.group=h3"], "'model.group=h3' says nothing about the data"),
        (["data.tset_size=3"], "no key 'data.tset_size'; the data have"),
        (["data=mnits"], "no data 'mnits'; did you mean mnist"),
        (["data.batch_size=0"], "data.batch_size=0 is not a whole number of at least 1"),
    ],
)
def test_what_cannot_be_tested_is_told_in_one_line(folder, arguments, told, capsys):
    assert main([str(folder), *arguments]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"t3cen eval: {told}")


def test_a_checkpoint_that_is_absent_or_damaged_is_told(folder, tmp_path, capsys):
    assert main([str(tmp_path)]) == 1
    assert "give the folder of a finished run" in capsys.readouterr().err
    damaged = tmp_path / "checkpoints" / "final.ckpt"
    damaged.parent.mkdir()
    whole = (folder / "checkpoints" / "final.ckpt").read_bytes()
    damaged.write_bytes(whole[:99] + bytes([whole[99] ^ 1]) + whole[100:])
    assert main([str(damaged)]) == 1
    assert "no config.json in" in capsys.readouterr().err
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    assert main([str(damaged)]) == 1
    assert "final.ckpt is damaged" in capsys.readouterr().err


def _changed(folder, tmp_path, **changes):
    """A copy of the run's folder, as somebody sends it, whose configuration is another."""
    received = shutil.copytree(folder, tmp_path / "received")
    config = json.loads((received / "config.json").read_text())
    for part, values in changes.items():
        config[part] = {**config[part], **values} if part == "data" and isinstance(values, dict) else values
    (received / "config.json").write_text(json.dumps(config))
    return received


@pytest.mark.parametrize("part", ["augment", "optimizer", "scheduler", "loss", "callbacks", "logger"])
def test_of_a_received_configuration_nothing_is_run_that_a_test_does_not_need(part, folder, tmp_path):
    ran = tmp_path / "ran"
    call = {"_target_": "os.mkdir", "path": str(ran), "_partial_": False}
    received = _changed(folder, tmp_path, **{part: {"own": call, **call}})
    assert evaluate(received) == read(folder / "result.json").tests
    assert not ran.exists()


@pytest.mark.parametrize("place", ["root", "hue_degrees", "_target_", "between"])
def test_data_that_conf_does_not_name_are_not_made(place, folder, tmp_path, capsys):
    ran = tmp_path / "ran"
    call = {"_target_": "os.mkdir", "path": str(ran)}
    received = _changed(folder, tmp_path, data={place: "os.mkdir" if place == "_target_" else call})
    assert main([str(received)]) == 1
    assert "which no file of conf/ has; it is not made" in capsys.readouterr().err
    assert not ran.exists()


def test_a_configuration_that_is_none_is_told(folder, tmp_path, capsys):
    received = _changed(folder, tmp_path, data="[]")
    assert main([str(received)]) == 1
    assert "is no configuration of a run" in capsys.readouterr().err


def test_what_is_not_there_is_told_before_torch_is_imported(tmp_path):
    code = (
        "import sys; from t3cen.commands.eval import main\n"
        f"assert main(['{tmp_path}/none', '--to', '{tmp_path}/x.json']) == 1\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.startswith(f"t3cen eval: there is no {tmp_path}/none; give the folder of a finished run")
    assert len(done.stderr.splitlines()) == 1
