"""Where the project lies, and the doors to its commands."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from hydra.errors import InstantiationException

from t3cen import __main__, extras, project

ROOT = Path(__file__).parents[1]


def test_a_checkout_names_its_scripts():
    assert not project.IS_INSTALLED
    assert {name: project.command(name) for name in ("train", "data")} == {
        "train": "python train.py",
        "data": "python scripts/prepare_data.py",
    }


def test_an_installed_package_names_its_command(monkeypatch):
    monkeypatch.setattr(project, "IS_INSTALLED", True)
    assert project.command("data") == "t3cen data"


@pytest.mark.parametrize("installed", [True, False])
def test_without_conf_nothing_is_listed_as_none(installed, tmp_path, monkeypatch):
    for name, value in (("PACKAGE", tmp_path / "t3cen"), ("PROJECT", tmp_path), ("IS_INSTALLED", installed)):
        monkeypatch.setattr(project, name, value)
    (tmp_path / "conf").mkdir()  # another package of that name
    with pytest.raises(FileNotFoundError, match=f"no train.yaml in {tmp_path}.*pip install"):
        project.conf_dir()


@pytest.mark.parametrize("name", project.SCRIPTS)
def test_every_command_is_there_and_so_is_its_script(name):
    script = (project.PROJECT / project.SCRIPTS[name]).read_text()
    assert f"from t3cen.commands.{name} import main" in script
    assert (project.PACKAGE / "commands" / f"{name}.py").is_file()


def test_every_file_is_a_command():
    files = {path.stem for path in (project.PACKAGE / "commands").glob("*.py")} - {"__init__"}
    assert files == set(project.SCRIPTS)


def test_the_command_lists_them(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["t3cen"])
    __main__.main()
    listed = capsys.readouterr().out
    assert all(f"\n  {name.replace('_', '-')} " in listed for name in project.SCRIPTS)
    assert max(map(len, listed.splitlines())) <= 130


def test_an_unknown_command_and_a_missing_extra_are_one_line(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["t3cen", "trian"])
    with pytest.raises(SystemExit, match=r"no command .trian.*train"):
        __main__.main()
    monkeypatch.setattr(sys, "argv", ["t3cen", "train"])
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in ("hydra", "rich") else sys)
    with pytest.raises(SystemExit, match=r'^t3cen train: hydra, rich are not installed; .*pip install "t3cen\[suite\]"$'):
        __main__.main()


def test_what_is_looked_for_is_there():
    for extra in extras.MODULES:
        extras.require(extra)


PYTHON_3_14 = """
import argparse, runpy, sys
added = argparse.ArgumentParser.add_argument
def add_argument(parser, *names, **options):
    action = added(parser, *names, **options)
    parser._check_help(action)
    return action
argparse.ArgumentParser.add_argument = add_argument
argparse.ArgumentParser._check_help = lambda parser, action: "%" in (action.help or "")
"""
"""It reads every help text as it is added, and one of Hydra 1.3 is no text."""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("from hydra._internal.utils import get_args_parser; get_args_parser()", "TypeError"),
        ("runpy.run_module('t3cen.commands.train', run_name='__main__')", "name: mnist_h4"),
    ],
)
def test_commands_start_under_the_argparse_of_python_3_14(code, said):
    command = [sys.executable, "-c", PYTHON_3_14 + code, "experiment=mnist_h4", "--cfg", "job"]
    done = subprocess.run(command, cwd=project.PROJECT, capture_output=True, text=True, check=False)
    assert said in done.stdout + done.stderr


WITHOUT_SUBMITIT = """
import runpy, sys
from t3cen import extras
extras.find_spec = lambda name: None if name == "submitit" else sys
runpy.run_module("t3cen.commands.train", run_name="__main__")
"""


@pytest.mark.fast("launcher=slurm")
@pytest.mark.parametrize("launcher", ["launcher=slurm", "hydra/launcher=local"])
def test_a_launcher_whose_packages_are_missing_is_one_line(launcher, tmp_path):
    command = [sys.executable, "-c", WITHOUT_SUBMITIT, "experiment=mnist_h4", launcher, f"outputs={tmp_path}"]
    done = subprocess.run(command, cwd=project.PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == 'error: submitit is not installed; this part of t3cen needs: pip install "t3cen[cluster]"\n'


def test_a_package_that_a_run_misses_is_told_with_its_extra():
    from t3cen.training.errors import expected

    def wrapped(name):
        error = InstantiationException("Error in call to target")
        error.__cause__ = ModuleNotFoundError(f"No module named {name!r}", name=name)
        return error

    assert str(expected(wrapped("kornia"))) == 'kornia is not installed; this part of t3cen needs: pip install "t3cen[suite]"'
    assert expected(wrapped("t3cen.nothing")) is None


def test_what_make_runs_is_there():
    named = re.findall(r"(?<![\w/.])(?:tests|scripts)/[\w/.]+", (ROOT / "Makefile").read_text())
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_lowest_versions_are_those_of_every_dependency():
    path = ROOT / "scripts" / "lowest_versions.py"
    spec = importlib.util.spec_from_file_location("lowest_versions", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    lists = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = script.lowest(lists)
    assert {"numpy==1.26", "mkdocs==1.6", "mkdocstrings[python]==1.0"} <= set(lines)
    declared = [*lists["dependencies"], *chain(*lists["optional-dependencies"].values())]
    assert len(lines) == len([line for line in declared if not line.startswith("t3cen[")])
    with pytest.raises(ValueError, match="'torch<3' is not of the form"):
        script.lowest({"name": "t3cen", "dependencies": ["torch<3"], "optional-dependencies": {}})
