"""The printed tables, letter for letter. After an intended change: T3CEN_WRITE_GOLDEN=1 pytest tests/tables/test_formats.py."""

import csv
import io
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from t3cen.commands.tables import main
from t3cen.experiments.schema import TABLE_DIR
from t3cen.results import measured
from t3cen.results.records import load

GOLDEN = Path(__file__).parent / "golden"
TABLES = ("hue_shift", "saturation_shift", "mnist_angle", "training_cost")
SUFFIX = {"md": "md", "latex": "tex", "csv": "csv", "html": "html"}


@pytest.fixture
def make_tables(capsys):
    def run(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def outputs(result_file, tmp_path):
    """Three seeds of some runs, one of another, one stale, one uncommitted, one refused, one measurement."""
    for seed, wrong in ((1999, 512), (2000, 498), (2001, 530)):
        result_file("shapes3d_hue_resnet44", seed, {"A": 1000, "B": 1000 - wrong, "C": 700 + seed % 3}, parameters=2_635_684)
        result_file("shapes3d_hue_h4", seed, {"A": 1000, "B": 1000, "C": 1000}, parameters=2_632_932)
        result_file("shapes3d_hue_h3", seed, {"A": 1000, "B": 1000 - seed % 2, "C": 999}, settings={"step_jitter": True})
        result_file("mnist_angle5_h4", seed, {"in": 980, "shift": 953 + seed % 4}, source="bundled")
    result_file("shapes3d_sat_resnet44", 1999, {"A": 1000, "B": 586, "C": 578}, source="rendered", dirty=True)
    result_file("shapes3d_sat_s4", 1999, {"A": 1000, "B": 1000, "C": 999, "C_parts": 990}, source="rendered")
    result_file("shapes3d_sat_s3", 1999, {"A": 1000, "B": 1000, "C": 999}, steps=17)
    path = measured.write(tmp_path, "training_cost", {"memory/t3cen/h1": 1050.0, "speed/t3cen/h4": 22.5}, {"device": "one GPU"})
    path.write_text(path.read_text().replace(path.read_text().split('"finished": "')[1][:25], "2026-01-01T00:00:00+00:00"))
    return tmp_path


@pytest.mark.parametrize("form", SUFFIX)
def test_golden(make_tables, outputs, form):
    printed = ""
    for table in TABLES:
        status, out, _ = make_tables(table, "--format", form, "--outputs", outputs)
        assert status == 0
        printed += out
    golden = GOLDEN / f"tables.{SUFFIX[form]}"
    if os.environ.get("T3CEN_WRITE_GOLDEN"):
        golden.write_text(printed)
    assert printed == golden.read_text()


def test_ours_alone_is_a_line_a_network_without_marks_of_agreement(make_tables, outputs):
    _, out, _ = make_tables("hue_shift", "--ours", "--outputs", outputs)
    lines = [line for line in out.splitlines() if line.startswith("|")]
    assert lines[0] == "| Network | A/A | A/B | A/C | Param |"
    assert lines[2] == "| ResNet44 | 0.00 (0.00) | 51.33 (1.60) | 29.90 (0.10) | 2.6M |"
    assert not [line for line in lines if line.startswith("| CEConv")]  # never trained
    assert not any(word in out for word in ("agrees", "differs", "paper", "<sup>", "n=", "†"))
    assert out.rstrip().endswith("Error in %: mean (sample standard deviation) over 3 seeds.")
    _, latex, _ = make_tables("hue_shift", "--ours", "--format", "latex", "--outputs", outputs)
    assert r"ResNet44 & 0.00 (0.00) & 51.33 (1.60) & 29.90 (0.10) & 2.6M\\" in latex
    assert "agrees" not in latex


def test_ours_alone_names_the_network_that_was_trained_and_the_scale(make_tables, result_file, tmp_path):
    result_file("shapes3d_hue_resnet44", 1999, {"A": 1000, "B": 500, "C": 700}, scale="laptop", parameters=176_012)
    _, out, _ = make_tables("hue_shift", "--ours", "--scale", "laptop", "--outputs", tmp_path)
    assert "| ResNet18 | 0.00 | 50.00 | 30.00 | 0.18M |" in out
    assert "of one seed. Trained at scale laptop" in out
    _, out, _ = make_tables("hue_shift", "--scale", "laptop", "--outputs", tmp_path)
    assert "| ResNet44 (here ResNet18) | ours | 0.00 |" in out


def test_n_is_told_once_and_where_it_differs(make_tables, outputs, result_file):
    _, out, _ = make_tables("hue_shift", "--outputs", outputs)
    assert "- n = 3 in every cell" in out
    assert "n=" not in out
    result_file("shapes3d_hue_ceconv3", 1999, {"A": 1000, "B": 900, "C": 900})
    _, out, _ = make_tables("hue_shift", "--outputs", outputs)
    assert "- n = 3 where a cell names no other" in out
    assert out.count("n=1") == 3


@pytest.mark.parametrize(
    ("name", "begins"), [("a.md", "### "), ("a.tex", "\\begin{table}"), ("a.csv", "table,"), ("a.html", "<!DOCTYPE")]
)
def test_a_file_is_of_the_format_that_its_name_says(make_tables, outputs, tmp_path, name, begins):
    path = tmp_path / "new" / name
    status, out, _ = make_tables("hue_shift", "--outputs", outputs, "--output", path)
    assert (status, out) == (0, f"{path}: 1 table\n")
    assert path.read_text().startswith(begins)


def test_a_file_is_whole_or_absent(make_tables, outputs, tmp_path, monkeypatch):
    with pytest.raises(SystemExit):
        make_tables("hue_shift", "--outputs", outputs, "--output", tmp_path / "a.doc")
    path = tmp_path / "a.md"
    path.write_text("before")
    monkeypatch.setattr("t3cen.training.files.os.replace", lambda *_: 1 / 0)
    monkeypatch.setattr(Path, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_tables("hue_shift", "--outputs", outputs, "--output", path)
    assert path.read_text() == "before"


def test_a_reduced_table_says_what_was_reduced(make_tables, result_file, tmp_path):
    result_file("shapes3d_hue_resnet44", 1999, {"A": 1000, "B": 500, "C": 700}, scale="laptop", source="rendered")
    _, out, _ = make_tables("hue_shift", "--scale", "laptop", "--outputs", tmp_path)
    [line] = [line for line in out.replace("\n  ", " ").splitlines() if line.startswith("- Reduced: ")]
    told = line.removeprefix("- Reduced: ").removesuffix(".").split(", ")
    assert {"backbone resnet18 (paper resnet44)", "data.image_size 32 (paper default)"} < set(told)
    assert not [change for change in told if "data_root" in change or "source" in change]


def test_other_seeds_are_no_reduction(make_tables, result_file, tmp_path):
    for seed in (2000, 2001):
        result_file("shapes3d_hue_resnet44", seed, {"A": 1000, "B": 500, "C": 700}, scale="laptop", source="rendered")
    _, out, _ = make_tables("hue_shift", "--scale", "laptop", "--outputs", tmp_path)
    [line] = [line for line in out.replace("\n  ", " ").splitlines() if line.startswith("- Reduced: ")]
    assert "seed" not in line


def test_commits_of_all_sittings_are_told(make_tables, result_file, tmp_path):
    sittings = [{"commit": commit * 40, "dirty": False, "code_hash": "1"} for commit in "aba"]
    result_file("mnist_h4", 1999, {"in": 980, "shift": 950}, commit="a" * 40, code_hash="1", sittings=sittings)
    _, out, _ = make_tables("mnist_degradation", "--outputs", tmp_path)
    assert "- Code: aaaaaaaaaa and bbbbbbbbbb (1 run);" in out


def test_csv_holds_what_the_records_hold(make_tables, outputs):
    _, out, _ = make_tables("hue_shift", "--format", "csv", "--outputs", outputs)
    cells = {(line["row"], line["column"]): line for line in csv.DictReader(io.StringIO(out))}
    assert len(cells) == 7 * 4
    plain = cells["ResNet44", "A/B"]
    assert (float(plain["mean"]), plain["n"], plain["paper_mean"], plain["experiment"]) == (
        pytest.approx(51.3333333), "3", "51.25", "shapes3d_hue_resnet44",
    )  # fmt: skip
    twin = cells["LCER-H4", "A/B"]
    assert (twin["mean"], twin["flags"], twin["mark"]) == ("0", "=", "best")
    assert cells["CEConv-3", "A/B"]["mean"] == ""


def test_twin_shows_its_own_run_where_it_was_trained(make_tables, outputs, result_file):
    result_file("shapes3d_hue_lcer_h4", 1999, {"A": 1000, "B": 990, "C": 1000})
    _, out, _ = make_tables("hue_shift", "--format", "csv", "--outputs", outputs)
    line = next(line for line in csv.DictReader(io.StringIO(out)) if (line["row"], line["column"]) == ("LCER-H4", "A/B"))
    assert (float(line["mean"]), line["n"], line["flags"]) == (1.0, "1", "")


def test_all_prints_every_table(make_tables, tmp_path):
    status, out, _ = make_tables("all", "--outputs", tmp_path)
    assert status == 0
    assert out.count("\n### ") + out.startswith("### ") == len(list(TABLE_DIR.glob("*.yaml")))


def test_a_wide_table_is_printed_as_several_with_every_column_once(make_tables, outputs):
    _, out, _ = make_tables("hue_shift", "--outputs", outputs)
    heads = [line for line in out.splitlines() if line.startswith("| Network ")]
    assert [head.strip("| ").split(" | ")[2:] for head in heads] == [["A/A", "A/B"], ["A/C", "Param"]]
    _, out, _ = make_tables("all", "--outputs", outputs)
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hue",), "no table 'hue'; did you mean hue_shift"),
        (("huee",), "no table 'huee'; did you mean hue_shift"),
        (("hue_shift", "--outputs", "/nowhere"), "no results folder /nowhere"),
    ],
)
def test_mistakes_end_in_one_line(make_tables, arguments, message):
    status, out, err = make_tables(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(make_tables, outputs, tmp_path):
    _, out, _ = make_tables("all", "--format", "latex", "--outputs", outputs)
    source = r"\documentclass{article}\usepackage{booktabs,amssymb}\begin{document}" + out + r"\clearpage\end{document}"
    (tmp_path / "all.tex").write_text(source)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
def test_two_thousand_results_take_seconds(make_tables, result_file, tmp_path):
    runs = ["mnist_z2cnn", *(f"mnist_h{order}" for order in range(2, 21))]
    for copy in range(34):
        for seed in (1999, 2000, 2001):
            for run in runs if copy < 33 else runs[:7]:
                result_file(run, seed, {"in": 990, "shift": 900}, folder=tmp_path / f"copy{copy}", finished=str(copy))
    started = time.process_time()  # whatever else the machine does
    status, out, _ = make_tables("all", "--outputs", tmp_path)
    seconds = time.process_time() - started
    assert (status, len(load(tmp_path).records)) == (0, 2001)
    assert "10.00 (0.00)" in out
    assert seconds < 10  # 2 to 5; minutes where each record meets every other


def test_at_a_reduced_scale_there_is_no_verdict(make_tables, result_file, tmp_path):
    for seed in (1999, 2000, 2001):
        result_file("shapes3d_hue_h4", seed, {"A": 1000, "B": 1000, "C": 1000}, scale="laptop", source="rendered")
    for form in ("md", "html", "csv", "latex"):
        _, out, _ = make_tables("hue_shift", "--scale", "laptop", "--outputs", tmp_path, "--format", form)
        told = out.partition("</style>")[2] or out
        assert not re.search(r"\b(agrees|differs|not decided)\b", told)
