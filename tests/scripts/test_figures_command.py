"""`t3cen figures`: what it prints, and how far it is."""

import logging

import pytest

from t3cen import commands
from t3cen.commands import figures


@pytest.fixture
def drawing(monkeypatch, tmp_path):
    """Figures that are drawn at once; `broken` raises."""
    drawn = []

    def make(name, overrides, command):
        drawn.append((name, command))
        if name == "broken":
            raise RuntimeError("no pictures")
        return {suffix: tmp_path / f"{name}.{suffix}" for suffix in ("png", "pdf", "json")}, {"answer": 42}

    monkeypatch.setattr(figures.registry, "names", lambda: ["broken", "coverage", "redundancy"])
    monkeypatch.setattr(figures.registry, "make", make)
    monkeypatch.setattr(figures.registry, "configure", lambda name, overrides=(): {"figures": tmp_path})
    return drawn


def test_one_figure_is_printed_with_its_numbers(drawing, capsys):
    assert figures.main(["coverage", "figure.order=6"]) == 0
    assert drawing == [("coverage", "t3cen figures coverage figure.order=6")]
    line, *numbers = capsys.readouterr().out.splitlines()
    assert line.endswith("coverage.png and .pdf, .json")
    assert ' "answer": 42' in numbers


def test_of_several_each_is_a_line_and_one_that_cannot_be_drawn_costs_no_other(drawing, capsys, caplog):
    caplog.set_level(logging.INFO)
    assert figures.main(["all"]) == 1
    told = capsys.readouterr()
    assert [line.partition(":")[0] for line in told.out.splitlines()] == ["coverage", "redundancy"]
    assert told.err.splitlines() == ["broken: RuntimeError: no pictures", "not drawn: broken"]


def test_an_unknown_figure_is_told_before_anything_is_drawn(drawing, capsys):
    assert figures.main(["coverage", "redundanc"]) == 2
    assert drawing == []
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("t3cen figures: no figure 'redundanc'; did you mean redundancy? (figures: broken, ")


def test_control_c_is_one_line(drawing, capsys, monkeypatch):
    monkeypatch.setattr(figures.registry, "make", lambda *_: exec("raise KeyboardInterrupt"))
    monkeypatch.setattr("sys.argv", ["figures", "coverage", "redundancy"])
    with pytest.raises(SystemExit) as ending:
        commands.enter("figures", figures.main)
    assert ending.value.code == commands.KEYBOARD
    assert capsys.readouterr().err == "\nt3cen figures: stopped; what is whole is kept, the same command goes on\n"


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("figure.ordre=3", "no key 'figure.ordre' in the configuration; did you mean figure.order"),
        ("figures=/tmp/R&D", "figures=/tmp/R&D: '&' is read only between quotes"),
        ("scale=larptop", "no scale 'larptop'; did you mean laptop? (scale: laptop, paper, smoke)"),
    ],
)
def test_a_wrong_setting_is_one_line(override, told, capsys):
    assert figures.main(["coverage", override]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"t3cen figures: {told}")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("sys.argv", ["figures", "coverage", f"figures={tmp_path}/file/x"])
    with pytest.raises(SystemExit):
        commands.enter("figures", figures.main)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"t3cen figures: {tmp_path}/file")
    assert "choose another place" in line
