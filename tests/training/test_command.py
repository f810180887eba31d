"""The command line: help at once, mistakes told in one line, exit status 1."""

import subprocess
import sys

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from runs import PROJECT, environment, train

from t3cen.experiments import register
from t3cen.project import conf_dir
from t3cen.training.command import explain, help_text

MISTAKES = {
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["experiment=mnist_h44"], "no experiment 'mnist_h44'; did you mean mnist_h4"),
        (["sweep=hue_shft"], "no sweep 'hue_shft'; did you mean hue_shift"),
        (["experiment=mnist_h4", "modle.group=h3"], "no key 'modle' in the configuration; did you mean model?"),
        (["experiment=mnist_h4", "seed=1,2"], "--multirun"),
    ],
)
def test_train_refuses_it(arguments, words, tmp_path):
    done = train(*arguments, f"outputs={tmp_path}")
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


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
