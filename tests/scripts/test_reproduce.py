"""A table made again, beside the committed one: what runs, and what counts as reproduced."""

from pathlib import Path

import pytest

from t3cen.commands import reproduce
from t3cen.experiments.schema import get_table, tables
from t3cen.results import measured


@pytest.fixture
def committed(tmp_path, monkeypatch, result_file):
    """A committed folder and one made here, of the runs of the table kutomadata."""
    monkeypatch.setattr(reproduce, "COMMITTED", tmp_path / "committed")
    monkeypatch.setattr(reproduce, "run", lambda command: 0)

    def write(where, errors):
        for seed, correct in zip((1999, 2000, 2001), errors, strict=True):
            result_file("kutomadata_h4", seed, {"test": correct}, scale="laptop", source="synthetic", folder=tmp_path / where)
        return tmp_path / where

    return write


@pytest.mark.parametrize(
    ("again", "status", "word"),
    [((700, 690, 680), 0, "the same"), ((705, 690, 680), 0, "within"), ((640, 630, 650), 1, "outside its spread")],
)
def test_a_cell_is_reproduced_within_its_printed_spread(committed, capsys, again, status, word):
    committed("committed", (700, 690, 680))
    here = committed("here", again)
    assert reproduce.main(["kutomadata", "--outputs", str(here)]) == status
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| T³CEN-H4 | Error |")]
    assert line.endswith(f"| {word} |")


def test_what_was_not_made_here_is_not_reproduced(committed, tmp_path, capsys):
    committed("committed", (700, 690, 680))
    (tmp_path / "here").mkdir()
    assert reproduce.main(["kutomadata", "--outputs", str(tmp_path / "here")]) == 1
    assert "outside: not made here" in capsys.readouterr().out


def test_speed_and_memory_are_of_the_machine_and_not_judged(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(reproduce, "COMMITTED", tmp_path / "committed")
    monkeypatch.setattr(reproduce, "run", lambda command: 0)
    for where, factor in (("committed", 1), ("here", 3)):
        found = {"memory/t3cen/h1": 1050.0 * factor, "speed/t3cen/h4": 22.5 * factor}
        measured.write(tmp_path / where, "training_cost", found, {"device": "a processor"})
    assert reproduce.main(["training_cost", "--outputs", str(tmp_path / "here")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| T³CEN, Training")]
    assert [line.rpartition("| ")[2] for line in lines] == ["of this machine |"] * 2


def test_a_failure_ends_it(monkeypatch, tmp_path):
    monkeypatch.setattr(reproduce, "run", lambda command: 3)
    assert reproduce.main(["kutomadata", "--outputs", str(tmp_path)]) == 3


def test_a_sweep_goes_on_where_it_stopped_and_every_measured_table_names_its_command():
    [train] = reproduce.commands_of(get_table("kutomadata"), "laptop", Path("o"))
    assert train[:3] == ["train", "sweep=kutomadata", "scale=laptop"]
    for table in tables().values():
        if table.kind == "measured":
            assert all("o" in " ".join(command) for command in reproduce.commands_of(table, "laptop", Path("o")))
    with pytest.raises(ValueError, match="'hyperparameters' is settings"):
        list(reproduce.commands_of(get_table("hyperparameters"), "laptop", Path("o")))


def test_an_unknown_table_is_told(capsys):
    assert reproduce.main(["kutomado"]) == 2
    assert "did you mean kutomadata" in capsys.readouterr().err
