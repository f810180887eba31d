"""Publishing to W&B, offline: what was written is read back from the run's file."""

import json
import struct
import sys
import time

import pytest

from t3cen.commands import publish as module

BLOCK = 32768


def records(path):
    """The protocol buffers of an offline run: a LevelDB log (blocks of 32 KiB, records in fragments) after a 7-byte head."""
    from wandb.proto.wandb_internal_pb2 import Record

    content, at, parts = path.read_bytes(), 7, b""
    assert content[:4] == b":W&B"
    while at + 7 <= len(content):
        if BLOCK - at % BLOCK < 7:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", content, at)
        parts += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield Record.FromString(parts)
            parts = b""


def values(items):
    """Logged values by key; those of several fields as a dictionary."""
    found = {}
    for item in items:
        key, *fields = item.nested_key or [item.key]
        if fields:
            found.setdefault(key, {})["/".join(fields)] = json.loads(item.value_json)
        else:
            found[key] = json.loads(item.value_json)
    return found


def test_tables_pages_and_bars_are_in_the_run_file(result_file, tmp_path, capsys):
    for seed in (1999, 2000, 2001):
        result_file("kutomadata_h4", seed, {"test": 690 + seed % 3})
        result_file("kutomadata_resnet18", seed, {"test": 800})
    assert module.main(["kutomadata", "--outputs", str(tmp_path)]) == 0
    assert "1 table published offline" in capsys.readouterr().out
    [file] = tmp_path.glob("wandb/offline-run-*/*.wandb")
    read = list(records(file))
    [run] = [r.run for r in read if r.HasField("run")][:1]
    assert (run.run_id, run.project, run.job_type) == ("t3cen-results-paper", "t3cen", "results")
    assert set(run.tags) == {"paper", "kutomadata"}
    config = {item.key: json.loads(item.value_json) for item in run.config.update}
    assert "Error in %" in config["tables"]["kutomadata"][0]
    logged = values(item for r in read if r.HasField("history") for item in r.history.item)
    table = logged["tables/kutomadata"]
    assert (table["_type"], table["nrows"], table["ncols"]) == ("table-file", 4, 24)
    assert logged["pages/kutomadata"]["_type"] == "html-file"
    assert logged["charts/kutomadata/Error"]["_type"] == "image-file"
    assert not [key for key in logged if " " in key]
    saved = json.loads((file.parent / "files" / table["path"]).read_text())
    rows = {(row[2], row[3]): dict(zip(saved["columns"], row, strict=True)) for row in saved["data"]}
    assert rows["ResNet18", "Error"]["mean"] == pytest.approx(20.0)
    assert rows["T³CEN-H4", "Error"]["paper_mean"] == 31.75
    summary = values(item for r in read if r.HasField("summary") for item in r.summary.update)
    assert summary["kutomadata/cells_compared"] == 2


def test_a_chart_shows_the_spread_and_the_papers_value():
    rows = [{"row": "H4", "mean": 20.0, "sd": 2.0, "paper_mean": 31.0, "paper_sd": None},
            {"row": "plain", "mean": None, "sd": None, "paper_mean": 40.0, "paper_sd": 1.0}]  # fmt: skip
    [axes] = module.chart(rows, "a title").axes
    [bar] = axes.patches
    assert bar.get_width() == 20.0
    segments = [segment for lines in axes.collections for segment in lines.get_segments()]
    assert [sorted(segment[:, 0].tolist()) for segment in segments] == [[18.0, 22.0], [39.0, 41.0]]
    papers = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "D"]
    assert papers == [31.0, 40.0]


def test_unchanged_results_are_published_once(result_file, tmp_path, capsys, monkeypatch):
    started = []

    def publish(arguments, seconds):
        started.append(arguments)
        (tmp_path / "wandb" / "offline-run-1").mkdir(exist_ok=True)
        return 0

    monkeypatch.setattr(module, "in_time", publish)
    result_file("kutomadata_h4", 1999, {"test": 690})
    arguments = ["--outputs", str(tmp_path)]
    assert [module.main(arguments), module.main(arguments)] == [0, 0]
    assert len(started) == 1
    assert "unchanged" in capsys.readouterr().out
    stamp = tmp_path / "wandb" / module.STAMP
    stamp.write_text(stamp.read_text()[:-9])  # cut off
    assert [module.main(arguments), module.main(arguments)] == [0, 0]
    assert len(started) == 2


def test_what_does_not_end_is_stopped_and_not_taken_for_published(result_file, tmp_path, capsys, monkeypatch):
    result_file("kutomadata_h4", 1999, {"test": 690})
    hanging = tmp_path / "hanging.py"
    hanging.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(module, "COMMAND", (sys.executable, str(hanging)))
    began = time.perf_counter()
    assert module.main(["--outputs", str(tmp_path), "--timeout", "1"]) == 1
    assert time.perf_counter() - began < 20
    assert "not done in 1 s" in capsys.readouterr().err
    assert not (tmp_path / "wandb" / module.STAMP).exists()


def test_nothing_to_publish(tmp_path, capsys):
    (tmp_path / "paper").mkdir()
    assert module.main(["--outputs", str(tmp_path), "--scale", "laptop"]) == 0
    assert "no results at scale laptop" in capsys.readouterr().out
    assert module.main(["nothing", "--outputs", str(tmp_path)]) == 2
