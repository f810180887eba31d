"""Sending offline runs: once each, and one line where it cannot be done."""

from types import SimpleNamespace

import pytest

from t3cen.commands import sync


def sitting(folder, time, run):
    file = folder / "wandb" / f"offline-run-{time}-{run}" / f"run-{run}.wandb"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    return file


@pytest.fixture
def three(tmp_path):
    """Two runs, one of two sittings, and one that was sent."""
    second = sitting(tmp_path / "a", "20260102_000000", "one")
    first = sitting(tmp_path / "a", "20260101_000000", "one")
    other = sitting(tmp_path / "b" / "c", "20260101_000000", "two")
    done = sitting(tmp_path / "d", "20260101_000000", "three")
    done.with_name(f"{done.name}.synced").touch()
    return {"run-one": [first.parent, second.parent], "run-two": [other.parent]}


def test_what_was_not_sent_is_found_and_sittings_are_in_order(three, tmp_path):
    assert sync.unsent([tmp_path]) == three
    options = SimpleNamespace(project=None, entity="team")
    assert sync.command(three["run-one"], options)[1:] == [
        "-m",
        "wandb",
        "sync",
        "--yes",
        "--entity",
        "team",
        *map(str, three["run-one"]),
    ]


def test_a_dry_run_lists_it(three, tmp_path, capsys):
    assert sync.main([str(tmp_path), "--dry-run"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "would send 2 runs in 3 sittings"
    assert [line.strip() for line in lines] == [str(path) for paths in three.values() for path in paths]


def test_a_server_that_does_not_answer_is_one_line(three, tmp_path, capsys, monkeypatch):
    import wandb

    wandb.teardown()  # it has read the environment
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    assert sync.main([str(tmp_path)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("t3cen sync: http://127.0.0.1:9 does not answer (")
    assert line.endswith("; left as they are: 2 runs in 3 sittings; the same command sends them")


def test_what_wandb_cannot_send_is_told_with_its_own_words(three, tmp_path, capsys, monkeypatch):
    said = SimpleNamespace(stdout="", stderr="wandb: a line\nError: No API key configured.\n")
    monkeypatch.setattr(sync, "unreachable", lambda server: "")
    monkeypatch.setattr(sync.subprocess, "run", lambda *_, **__: said)
    assert sync.main([str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("0 of 2 runs in 3 sittings sent to ")
    assert told.err.splitlines()[-1] == "t3cen sync: 2 runs were not sent; wandb says: Error: No API key configured."


def test_nothing_to_send_and_no_folder(tmp_path, capsys):
    assert sync.main([str(tmp_path)]) == 0
    assert "nothing to send" in capsys.readouterr().out
    assert sync.main([str(tmp_path / "x")]) == 2
    assert "no folder" in capsys.readouterr().err


def test_a_sent_run_is_not_sent_again(tmp_path, sent, capsys):
    import wandb

    settings = wandb.Settings(silent=True, console="off", x_disable_stats=True)
    run = wandb.init(mode="offline", dir=tmp_path, project="p", id="one", group="g", settings=settings)
    run.log({"x": 1.5})
    run.finish()
    runs = sent(tmp_path, "--entity", "team", "--project", "other")
    assert (runs["one"].told["entity"], runs["one"].told["project"], runs["one"].told["groupName"]) == ("team", "other", "g")
    assert [line["x"] for line in runs["one"].history] == [1.5]
    assert sync.main([str(tmp_path)]) == 0
    assert "nothing to send" in capsys.readouterr().out
