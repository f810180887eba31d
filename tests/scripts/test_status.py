"""`t3cen status`, called as a user calls it."""

import json
import re

import pytest

from t3cen.commands import status as module


@pytest.fixture
def status(capsys):
    def run(*arguments):
        module.console.width = 140
        code = module.main([str(argument) for argument in arguments])
        return code, capsys.readouterr().out

    return run


def fields(line):
    return [part.strip() for part in re.split("[│┃|]", line)[1:-1]]


def test_one_table_cell_by_cell(status, result_file, tmp_path):
    for seed in (1999, 2000):
        result_file("kutomadata_h4", seed, {"test": 700}, step_seconds=1.0, steps=3600)
    failed = tmp_path / "paper" / "kutomadata_resnet18" / "seed2001"
    failed.mkdir(parents=True)
    (failed / "failure.json").write_text(json.dumps({"kind": "raised", "reason": "DataError: no [red] tomatoes"}))
    code, out = status("kutomadata", "--outputs", tmp_path)
    rows = {fields(line)[0]: fields(line)[1:] for line in out.splitlines() if line.startswith("│")}
    assert code == 0
    assert rows["T³CEN-H4"] == ["2/3"]
    assert rows["ResNet18"] == ["0/3 1 failed"]
    assert "failed kutomadata_resnet18 seed 2001: raised: DataError: no [red] tomatoes" in out
    assert rows["kutomadata"] == ["2/6", "0", "1", "0", "0", "3", "4.0"]


def test_the_plan_counts_from_nothing_and_shared_runs_once(status, result_file, tmp_path):
    result_file("kutomadata_h4", 1999, {"test": 700}, step_seconds=1.0, steps=3600)
    _, out = status("kutomadata", "--plan", "--outputs", tmp_path)
    rows = {fields(line)[0]: fields(line)[1:] for line in out.splitlines() if line.startswith("│")}
    assert rows["kutomadata"][-1] == "6.0"
    _, out = status("--outputs", tmp_path)
    rows = {fields(line)[0]: fields(line)[1:] for line in out.splitlines() if line.startswith("│")}
    shared = sum(int(row[0].split("/")[1]) for name, row in rows.items() if name != "all, shared runs once")
    assert int(rows["all, shared runs once"][0].split("/")[1]) < shared


@pytest.mark.slow  # it counts the operations of six networks
def test_the_plan_of_a_gpu_has_hours_and_costs_of_each_backend(status, result_file, tmp_path):
    result_file("kutomadata_h4", 1999, {"test": 700}, device="NVIDIA L40", step_seconds=1.0, steps=3600)
    arguments = ("kutomadata", "--plan", "--scale", "smoke", "--outputs", tmp_path, "--device", "L40")
    _, out = status(*arguments, "--price", "1000000")
    head = fields(next(line for line in out.splitlines() if line.startswith("┃")))
    row = dict(zip(head, fields(next(line for line in out.splitlines() if line.startswith("│ kuto"))), strict=True))
    assert head == ["table", "runs", *(f"{what}, {b}" for what in ("hours", "cost") for b in ("auto", "fourier", "direct"))]
    assert row["runs"] == "6"
    assert float(row["cost, fourier"]) > 0
    assert row["cost, fourier"] != row["cost, direct"]
    assert "Estimated, never timed: 2 networks" in " ".join(out.split())
    assert "cost" not in status(*arguments)[1]  # no price is invented


def test_left_hours_have_a_price_too(status, result_file, tmp_path):
    result_file("kutomadata_h4", 1999, {"test": 700}, step_seconds=1.0, steps=3600)
    _, out = status("kutomadata", "--outputs", tmp_path, "--price", "2")
    rows = {fields(line)[0]: fields(line)[1:] for line in out.splitlines() if line.startswith("│")}
    assert rows["kutomadata"][-2:] == ["5.0", "10.0"]


def test_nothing_timed_says_what_to_do(status, tmp_path):
    code, out = status("kutomadata", "--outputs", tmp_path / "none")
    assert code == 0
    assert "--measure" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hue"], "did you mean hue_shift"),
        (["training_cost"], "is measured, not trained"),
        (["kutomadata", "--price", "-1"], "--price must be above 0, got -1.0"),
    ],
)
def test_mistakes(status, arguments, message):
    code, out = status(*arguments)
    assert code == 2
    assert message in " ".join(out.split())


def test_measure_times_a_real_step(status, tmp_path):
    code, out = status("kutomadata", "--scale", "smoke", "--measure", "--outputs", tmp_path)
    times = json.loads((tmp_path / "measured" / "step_times.json").read_text())
    [(device, scales)] = times.items()
    assert code == 0
    assert set(scales["smoke"]) == {"kutomadata_h4", "kutomadata_resnet18"}
    assert all(seconds > 0 for seconds in scales["smoke"].values())
    assert device.split(",")[0] in " ".join(out.split())


def test_step_times_that_cannot_be_read_are_left_out_and_measured_anew(status, tmp_path, caplog):
    path = tmp_path / "measured" / "step_times.json"
    path.parent.mkdir()
    path.write_text('{"cpu": {"smo')
    assert status("kutomadata", "--scale", "smoke", "--outputs", tmp_path)[0] == 0
    assert "step_times.json cannot be read" in caplog.text
    assert status("kutomadata", "--scale", "smoke", "--measure", "--outputs", tmp_path)[0] == 0
    assert json.loads(path.read_text())
