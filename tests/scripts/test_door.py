"""Commands on every kind of terminal, left in every way."""

import importlib
import io
import os
import subprocess
import sys

import pytest

from t3cen import commands as door
from t3cen.progress import Terminal
from t3cen.project import PROJECT

TABLES = [sys.executable, "scripts/make_tables.py", "hue_shift"]


def shell(line, **variables):
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=PROJECT, env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("script", ["make_tables", "status"])
def test_a_reader_who_goes_away_is_no_error(script):
    done = shell(f"{sys.executable} scripts/{script}.py hue_shift --outputs docs/results --scale laptop | head -c 1")
    assert (done.returncode in (0, door.PIPE), done.stderr) == (True, "")


@pytest.mark.parametrize("script", ["make_tables", "status"])
def test_a_closed_standard_output_is_no_error(script):
    done = shell(f"{sys.executable} scripts/{script}.py hue_shift --outputs docs/results >&-")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_console_hands_on_that_its_reader_went_away():
    class Left(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Terminal(file=Left()).print("x")


def test_a_terminal_of_few_characters_gets_escapes():
    done = shell(f"{' '.join(TABLES)} --outputs docs/results", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "T\\xb3CEN" in done.stdout


def test_an_unknown_table_is_told_in_one_line():
    done = shell(f"{' '.join(TABLES)}x")
    assert done.returncode == 2
    assert "no table 'hue_shiftx'; did you mean hue_shift" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("tables", ["--format", "pdf"], "argument --format: invalid choice: 'pdf'"),
        ("tables", ["--output", "a.pdf"], "--output a.pdf does not say which format; end it in .md, .tex, .csv, .html"),
        ("tables", ["--ours", "--format", "csv"], "--ours is md or latex, not csv"),
        ("data", ["mnst"], "unknown data set 'mnst'; did you mean mnist"),
        ("report", ["--nothing"], "unrecognized arguments: --nothing"),
    ],
)
def test_a_mistake_on_a_command_line_is_one_line(name, arguments, told, capsys):
    command = importlib.import_module(f"t3cen.commands.{name}")
    with pytest.raises(SystemExit) as ending:
        command.main(arguments)
    assert ending.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"t3cen {name}: {told}")
    assert line.endswith(f"; t3cen {name} --help shows what it takes")


def raising(error):
    def main(arguments):
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (KeyboardInterrupt(), 130, "\nt3cen data: stopped; what is whole is kept, the same command goes on\n"),
        (PermissionError(13, "Permission denied", "/root/x"), 1,
         "t3cen data: /root/x: Permission denied; choose another place, or see to its rights and room\n"),
    ],
)  # fmt: skip
def test_what_ends_a_command_is_told_in_one_line(error, status, told, capsys):
    with pytest.raises(SystemExit) as ending:
        door.enter("data", raising(error))
    assert ending.value.code == status
    assert capsys.readouterr().err == told


def test_a_name_that_conf_does_not_have_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["recommend", "--data", "mnistt"])
    with pytest.raises(SystemExit) as ending:
        door.enter("recommend", importlib.import_module("t3cen.commands.recommend").main)
    assert ending.value.code == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("t3cen recommend: no data 'mnistt'; did you mean mnist")


def test_a_mistake_of_ours_keeps_its_traceback():
    with pytest.raises(KeyError):
        door.enter("data", raising(KeyError("x")))


@pytest.mark.slow
def test_a_report_that_cannot_be_written_is_told(tmp_path):
    page = tmp_path / "file" / "page.html"
    page.parent.touch()
    done = shell(f"{sys.executable} scripts/make_report.py --outputs {tmp_path} --to {page}")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert f"{page.parent}: File exists" in done.stderr
