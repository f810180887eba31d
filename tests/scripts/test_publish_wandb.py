"""Publishing to W&B, offline: what was written is read back by wandb's own reader."""

import json
import sys
import time

import pytest

from t3cen.commands import publish as module
from t3cen.figures.plots import plots


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_tables_pages_and_bars_are_are_what_is_sent(result_file, tmp_path, capsys, sent):
    for seed in (1999, 2000, 2001):
        result_file("kutomadata_h4", seed, {"test": 690 + seed % 3})
        result_file("kutomadata_resnet18", seed, {"test": 800})
    assert module.main(["kutomadata", "--outputs", str(tmp_path)]) == 0
    assert "1 table published offline" in capsys.readouterr().out
    [(run_id, run)] = sent(tmp_path).items()
    assert (run_id, run.told["project"], run.told["jobType"]) == ("t3cen-results-paper", "t3cen", "results")
    assert set(run.told["tags"]) == {"paper", "kutomadata"}
    assert "Error in %" in run.config["tables"]["kutomadata"][0]
    logged = run.history[-1]
    table = logged["tables/kutomadata"]
    assert (table["_type"], table["nrows"], table["ncols"]) == ("table-file", 4, 23)
    assert logged["pages/kutomadata"]["_type"] == "html-file"
    assert logged["charts/kutomadata/Error"]["_type"] == "image-file"
    assert not [key for key in logged if " " in key]
    saved = json.loads(run.files[table["path"]])
    rows = {(row[2], row[3]): dict(zip(saved["columns"], row, strict=True)) for row in saved["data"]}
    assert rows["ResNet18", "Error"]["mean"] == pytest.approx(20.0)
    assert rows["T³CEN-H4", "Error"]["paper_mean"] == 31.75
    assert run.summary["kutomadata/cells_compared"] == 2


def figure(name, numbers):
    return {"figure": name, "config": {"figure": {"_target_": f"t3cen.figures.{name}.draw"}}, "numbers": numbers}


BETWEEN = figure("between_steps", {"runs": "n = 1", "hue": {"amounts": [-0.5, 0, 0.5], "step": 0.25, "H4": {"fold": [1, 0, 2]}}})
MEASURED = {"h1": {"memory_mib": 10.0, "iterations_per_second": 2.0}, "h4": {"failed": "x"}}
PROTOCOL = {"image_size": 32, "batch_size": 8}
COST = figure("training_cost", {"protocol": PROTOCOL, "device": "cpu", "measured": {"T³CEN": MEASURED}})


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_curves_between_the_steps_and_the_cost_are_plots(tmp_path, sent, capsys):
    (tmp_path / "figures").mkdir()
    for content in (BETWEEN, COST, {"figure": "other", "numbers": {}}):
        (tmp_path / "figures" / f"{content['figure']}.json").write_text(json.dumps(content))
    assert module.main(["--outputs", str(tmp_path)]) == 0
    assert "0 tables and 3 plots published offline; send it with: python scripts/sync_wandb.py" in capsys.readouterr().out
    [run] = sent(tmp_path).values()
    tables = {key: json.loads(run.files[value["path"]])["data"] for key, value in run.history[-1].items()
              if isinstance(value, dict) and value.get("_type") == "table-file"}  # fmt: skip
    assert tables["plots/between_steps/hue_table"] == [[-0.5, "H4", 1], [0, "H4", 0], [0.5, "H4", 2]]
    assert tables["plots/training_cost/memory_mib/T³CEN_table"] == [["H1", 10.0]]
    drawn = run.config["_wandb"]["visualize"]
    assert {"plots/between_steps/hue", "plots/training_cost/iterations_per_second/T³CEN"} <= set(drawn)


def test_a_damaged_figure_is_named_and_left_out(tmp_path, caplog):
    (tmp_path / "a.json").write_text(json.dumps(BETWEEN))
    (tmp_path / "b.json").write_text(json.dumps(COST)[:-9])
    assert [plot.name for plot in plots(tmp_path)] == ["between_steps/hue"]
    assert "b.json cannot be read" in caplog.text


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
