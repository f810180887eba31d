"""Progress is a bar on a terminal and a line now and then in a file."""

import logging
import os
import pty
import sys
import termios

import pytest

from t3cen.progress import Progress, counted_bytes, say


@pytest.fixture
def lines(caplog):
    """The lines logged so far."""
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_file_gets_a_line_with_what_is_said_beside(lines):
    with Progress("runs", total=4, unit="run", every=0, says=lambda: {"loss": "0.5"}) as progress:
        progress.update(3)
    assert len(lines()) == 2
    assert lines()[-1].startswith("runs: 3 of 4 run, ")
    assert lines()[-1].endswith(" left, loss 0.5")


def test_between_two_lines_time_passes(lines):
    with Progress("steps", total=100, unit="step", every=60) as progress:
        for _ in range(100):
            progress.update()
    assert lines() == []


def test_bytes_have_sizes_and_a_rate_and_go_on(lines, monkeypatch):
    monkeypatch.setattr("t3cen.progress.EVERY", 0)
    with counted_bytes("a.zip", 4 << 20, have=1 << 20) as progress:
        progress.update(1 << 20)
    assert "a.zip: 2.00M of 4.00M B, " in lines()[-1]
    assert "B/s" in lines()[-1]


def test_a_terminal_gets_a_bar(monkeypatch, lines):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress("runs", total=4, unit="run") as progress:
            progress.update(4)
        drawn = ""
        while "\n" not in drawn:  # a closed bar ends its line
            drawn += os.read(ours, 10_000).decode()
    os.close(ours)
    assert "runs: 100%" in drawn
    assert "4/4" in drawn
    assert lines() == []


@pytest.mark.parametrize(("terminal", "written"), [(True, "\rdone\n"), (False, "done\n")])
def test_a_line_begins_at_the_left_of_a_terminal(terminal, written, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    say("done")
    assert capsys.readouterr().out == written
