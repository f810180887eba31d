"""The command line: help at once, mistakes told in one line, exit status 1."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from runs import PROJECT, environment, train

from t3cen.experiments import register
from t3cen.experiments.composition import compose_with
from t3cen.groups import ColorGroup
from t3cen.project import conf_dir
from t3cen.training.checks import GROUP, check
from t3cen.training.command import command_line, help_text, options_first
from t3cen.training.explain import explain

MISTAKES = {
    "lr=0.003": ["no key 'lr'", "did you mean optimizer.lr?"],
    "batch_size=32": ["no key 'batch_size'", "did you mean data.batch_size?"],
    "epochs=3": ["did you mean trainer.max_epochs?"],
    "optimizer=adamww": ["no optimizer 'adamww'", "did you mean adamw", "optimizer: adam, adamw, sgd"],
    "scheduler=linear": ["no scheduler 'linear'", "cosine, none, step"],
    "experiment=camelyon_s5": ["no experiment 'camelyon_s5'", "did you mean camelyon_s4", "--help lists them all"],
    "sweep=foo": ["no sweep 'foo'", "sweep: ablation_color_space"],
    "sweep=hue": ["no sweep 'hue'", "did you mean hue_shift"],
    "sweep=training_cost": ["no sweep 'training_cost'", "sweep: ablation_color_space"],
    "outputs=a#b": ["outputs=a#b: '#' is read only between quotes", "\"outputs='a#b'\""],
    "data_root=~x/y~1": ["'~' is read only between quotes", "\"data_root='~x/y~1'\""],
    "outputs=~/runs": ["'~' is read only between quotes", f"\"outputs='{Path.home()}/runs'\""],
    "outputs=/tmp/R&D": ["'&' is read only between quotes"],
    "outputs=/tmp/Öl": ["'Ö' is read only between quotes"],
    "a#b=1": ["the key in 'a#b=1' holds '#'"],
    "mnist_h4": ["'mnist_h4' is no key=value"],
    "optimizer.lrr=1": ["no key 'optimizer.lrr'", "did you mean optimizer.lr"],
    "sed=3": ["no key 'sed'", "did you mean seed"],
    "trainer.max_epoch=3": ["no key 'trainer.max_epoch'", "trainer.max_epochs"],
    "data=mnst": ["no data 'mnst'", "did you mean mnist", "camelyon"],
    "augment=augmx": ["no augment 'augmx'", "did you mean augmix"],
    "nogroup=3": ["no key 'nogroup'"],
    "seed=[": ["seed=["],
}


@pytest.fixture(scope="module")
def configured():
    register()
    GlobalHydra.instance().clear()
    yield
    GlobalHydra.instance().clear()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_one_line(mistake, configured):
    GlobalHydra.instance().clear()
    with initialize_config_dir(version_base="1.3", config_dir=str(conf_dir())), pytest.raises(Exception) as caught:  # noqa: PT011
        compose("train", overrides=[mistake])
    told = explain(caught.value)
    assert "\n" not in told
    for words in MISTAKES[mistake]:
        assert words in told


@pytest.mark.fast("arguments0-*", "arguments3-*")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["experiment=mnist_h44"], "no experiment 'mnist_h44'; did you mean mnist_h4"),
        (["sweep=hue_shft"], "no sweep 'hue_shft'; did you mean hue_shift"),
        (["experiment=mnist_h4", "modle.group=h3"], "no key 'modle' in the configuration; did you mean model?"),
        (["experiment=mnist_h4", "seed=1,2"], "--multirun"),
        (["experiment=mnist_h4", "scheduler=null"], "write scheduler=none for a constant rate"),
    ],
)
def test_train_refuses_it(arguments, words, tmp_path):
    done = train(*arguments, f"outputs={tmp_path}")
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


VALUES = {
    "seed=abc": "seed=abc is not a whole number of at least 0; write for example seed=1999",
    "seed=true": "seed=true is not a whole number",
    "seed=-1": "seed=-1 is not",
    "optimizer.lr=fast": "optimizer.lr=fast is not a number of at least 0; write for example optimizer.lr=0.001",
    "optimizer.lr=null": "optimizer.lr=null is not a number",
    "data.batch_size=1.5": "data.batch_size=1.5 is not a whole number of at least 1; write for example data.batch_size=128",
    "trainer.max_epochs=ten": "trainer.max_epochs=ten is not a whole number or null",
    "model.group=h4x": "model.group=h4x names no colour group; write h, s, l in this order, each with its order, for example "
    "model.group=h4s4",
    "model.group=null": "model.group=null names no colour group",
    "outputs='~/x'": "outputs=~/x: ~ is a home folder in a shell only; write \"outputs='/home/me/x'\"",
    "data._target_=nowhere.Thing": "data._target_=nowhere.Thing: there is no module 'nowhere'",
}


@pytest.mark.parametrize("override", VALUES)
def test_a_value_of_the_wrong_kind_is_told_with_its_key_and_an_example(override, configured, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    with pytest.raises(ValueError, match="^" + re.escape(VALUES[override])):
        check(compose_with(["experiment=mnist_h4", override]))


@pytest.mark.parametrize("name", ["mnist_h4", "cifar10_h4", "camelyon_s4"])
def test_what_is_declared_passes(name):
    for more in ([], ["optimizer=adamw"], ["optimizer=sgd", "scheduler=step"], ["trainer.max_epochs=null"]):
        check(compose_with([f"experiment={name}", *more]), name)


@pytest.mark.parametrize("text", ["", "h4", "H4", " s3 ", "h4s4l4", "h12l1", "l4h4", "h", "h0", "h-1", "4", "h4x", "none", "h04"])
def test_the_groups_that_are_checked_are_those_that_are_read(text):
    try:
        ColorGroup.parse(text)
        read = True
    except ValueError:
        read = False
    assert (GROUP.fullmatch(text.strip().lower()) is not None) is read


def test_values_are_checked_before_torch_is_imported(tmp_path):
    code = (
        f"import sys, runpy; sys.argv = ['train.py', 'seed=abc', 'outputs={tmp_path}']\n"
        "try: runpy.run_path('train.py', run_name='__main__')\n"
        "except SystemExit as e: assert e.code == 1\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, f"error: {VALUES['seed=abc']}\n")


def test_processes_that_slurm_started_for_a_run_of_one_are_told(monkeypatch):
    config = compose_with(["experiment=mnist_h4"])
    monkeypatch.setenv("SLURM_NTASKS", "4")
    check(config)
    monkeypatch.setenv("SLURM_PROCID", "2")
    with pytest.raises(ValueError, match=r"started this run 4 times .* srun --ntasks=1, or set trainer.devices=4"):
        check(config)
    check(compose_with(["experiment=mnist_h4", "trainer.devices=4"]))


def test_the_option_for_several_runs_may_stand_anywhere():
    assert options_first(["experiment=mnist_h4", "-m", "seed=1,2"]) == ["-m", "experiment=mnist_h4", "seed=1,2"]
    assert options_first(["seed=1", "--cfg", "job"]) == ["seed=1", "--cfg", "job"]


def test_an_unknown_option_is_one_line(tmp_path):
    done = train("--nothing", "experiment=mnist_h4", f"outputs={tmp_path}")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line == "error: unrecognized arguments: --nothing; python train.py --help shows what it takes"


def test_a_folder_that_cannot_be_written_is_told_with_the_key():
    told = explain(PermissionError(13, "Permission denied", "/root/outputs"))
    assert told == "/root/outputs: Permission denied; choose a folder that can be written, with outputs=FOLDER"


def test_alone_it_prints_its_usage(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["train.py"])
    command_line(lambda: pytest.fail("a run was started"))
    assert capsys.readouterr().out == help_text()


@pytest.mark.slow
def test_missing_data_are_told_in_one_line_and_left_in_the_folder(tmp_path):
    done = train(
        "experiment=mnist_h4",
        "scale=smoke",
        "data.source=files",
        f"data_root={tmp_path}/none",
        f"outputs={tmp_path}",
        "logger.wandb=off",
    )
    assert done.returncode == 1
    [line] = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert "prepare_data.py mnist" in line
    assert "raised" in next(tmp_path.rglob("failure.json")).read_text()


def test_help_lists_what_there_is_without_importing_torch():
    text = help_text()
    for words in ("sweep=hue_shift", "camelyon_{", "launcher", "slurm", "data.source=files", "--cfg job"):
        assert words in text
    assert max(len(line) for line in text.splitlines()) < 125
    code = "import sys, runpy; sys.argv = ['train.py', '--help']; runpy.run_path('train.py', run_name='__main__'); " + (
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == text
