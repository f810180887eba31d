"""scripts/gpu_check.py at toy size on the CPU, and what it makes of its numbers."""

import json
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from t3cen.analysis.roofline import GPUS, training_step
from t3cen.models import build
from t3cen.ops import devices
from t3cen.results import measured

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "scripts"))

import gpu_check  # noqa: E402
import performance_page  # noqa: E402
import predict_gpu  # noqa: E402


def layer(order, channels, direct, matmul, convolution):
    return {"order": order, "channels": channels, "direct": direct, "matmul": matmul, "convolution": convolution, "separate": 99}


def test_the_crossover_loses_the_least_time():
    rows = [layer(4, 4, 1, 3, 9), layer(4, 8, 1, 2, 9), layer(16, 4, 2, 1, 9), layer(16, 16, 9, 1, 9)]
    assert gpu_check.crossover(rows) == {"least_width": 64, "products": "matmul"}
    assert gpu_check.crossover([layer(4, 4, 1, 9, 3)]) == {"least_width": 32, "products": "convolution"}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The file of a check of toy size, on the CPU, that had time for its first network."""
    path = tmp_path_factory.mktemp("check") / "gpu_check.json"
    gpu_check.check(torch.device("cpu"), True, gpu_check.Minutes(0.05), path)
    return path


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "FILE", tmp_path / "measured.json")
    monkeypatch.setattr(gpu_check, "KEPT", tmp_path / "gpu")
    devices.FILE.write_text('{"cuda": {"least_width": 64, "products": "convolution"}}')
    return tmp_path / "gpu"


def test_a_check_is_whole(checked):
    found = json.loads(checked.read_text())
    assert found["kind"] == "cpu"
    assert len(found["profile"]) == 10
    assert len(found["layers"]) + len(found["networks"]) + len(found["left_out"]) == 2 + 3 * 2 * gpu_check.TOYS
    assert not (checked.parent / "measured").exists()  # toys are no cells of a table


@pytest.mark.slow
def test_every_network_of_a_check_runs(tmp_path):
    gpu_check.check(torch.device("cpu"), True, gpu_check.Minutes(10), tmp_path / "gpu_check.json")
    found = json.loads((tmp_path / "gpu_check.json").read_text())
    assert not found["left_out"]
    assert not [row for row in found["networks"] if "failed" in row]
    assert {row["precision"] for row in found["networks"]} == set(gpu_check.PRECISIONS)


def test_a_check_is_adopted_unless_it_is_of_toy_size(checked, kept, tmp_path, capsys):
    with pytest.raises(ValueError, match="toy size"):
        gpu_check.adopt(checked)
    path = tmp_path / "real.json"
    path.write_text(json.dumps({"toy": False, "kind": "NVIDIA L40", "crossover": {"least_width": 32, "products": "matmul"}}))
    gpu_check.adopt(path)
    assert devices.everything.__wrapped__()["NVIDIA L40"] == devices.Measured(32, "matmul")
    assert (kept / "NVIDIA_L40.json").read_text() == path.read_text()
    assert "performance_page.py" in capsys.readouterr().out


def test_cells_of_the_cost_table_are_cells_it_has(tmp_path):
    rows = [
        {"backbone": "resnet18", "precision": "tf32", **options, "memory_mib": number, "iterations_per_second": 1.0}
        for number, options in enumerate(gpu_check.NETWORKS)
    ]
    found = gpu_check.cells(rows)
    measured.write(tmp_path, "training_cost", found, {"device": "none"})  # which refuses others
    assert found["memory/t3cen/h1"] == found["memory/lcer/h1"] == 0
    assert {name.split("/", 1)[1] for name in found} == {
        *(f"t3cen/{group}" for group in ("h1", *gpu_check.GROUPS)),
        *("lcer/h1", "lcer/h4", "ceconv/h1", "ceconv/h4"),
        *(f"lcer_odd/{group}" for group in gpu_check.GROUPS[1:-1]),
    }


def test_pages_show_what_was_measured_beside_what_was_predicted(checked, tmp_path):
    found = json.loads(checked.read_text())
    row = {"backbone": "z2cnn", "precision": "float32", "iterations_per_second": 100.0, "time_over_plain": 1.0}
    found["size"] = {"image_size": 28, "batch_size": 2, "width": 16}
    found["networks"] = [
        {**row, "group": "", "family": "plain"},
        {
            **row,
            "group": "h4",
            "backend": "fourier",
            "iterations_per_second": 50.0,
            "time_over_plain": 2.0,
            "memory_over_plain": 3.0,
        },
        {**row, "group": "h4", "backend": "fourier", "compile": True},
        {**row, "group": "h4", "backend": "direct", "failed": "out of memory"},
    ]
    found["networks"][3].pop("iterations_per_second")
    folder = tmp_path / "gpu"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(found | {"device": "NVIDIA L40"}))
    plain = training_step(build("z2cnn", "", 10, family="plain", width=16), 2, 28).seconds(GPUS["L40"])
    h4 = training_step(build("z2cnn", "h4", 10, backend="fourier", width=16), 2, 28).seconds(GPUS["L40"])
    text = predict_gpu.page("Before\n<!-- predict_gpu.py -->\nold\n<!-- end -->\nbehind\n", "| predicted |\n", folder)
    ratio, over = 0.02 / h4, h4 / plain
    assert f"| z2cnn H4 fourier | float32 | {h4 * 1e3:.1f} | 20.0 | {ratio:.2f} | {over:.2f} | 2.00 | 3.00 |" in text
    assert "| z2cnn H4 fourier compiled | float32 |  | 10.0 |" in text
    assert "out of memory" in text
    assert text.endswith("<!-- end -->\nbehind\n")
    assert "old" not in text
    assert predict_gpu.page(text, "| predicted |\n", folder) == text
    assert predict_gpu.NOT_YET in predict_gpu.page(text, "", tmp_path / "none")

    text = performance_page.page("Before.\n<!-- measured -->\n", tmp_path / "none", folder)
    assert "| z2cnn H4 fourier | 20.0 (2.00x) | 3.00x |" in text
    assert "| z2cnn H4 direct | out of memory |  |" in text
    assert f"| `{found['profile'][0]['operation']}` |" in text
    assert text.count("| H4 | ") == len(found["layers"])
    assert predict_gpu.NOT_YET in performance_page.page(text, tmp_path / "none", tmp_path / "none")


def test_the_page_of_gpus_has_the_measurements_that_are_kept():
    text = predict_gpu.PAGE.read_text()
    predicted = (
        text[text.index(predict_gpu.BEGIN) : text.index("## Measured")]
        .removeprefix(f"{predict_gpu.BEGIN}\n\n")
        .removesuffix("\n")
    )
    assert predict_gpu.page(text, predicted) == text


def test_without_a_gpu_a_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["gpu_check.py"])
    with pytest.raises(SystemExit):
        gpu_check.main()
    assert "torch finds no GPU here" in capsys.readouterr().err


def test_the_roofline_counts_what_a_gpu_would_launch_and_nothing_else():
    """Forward addmm, log_softmax, nll_loss; the 1 that goes back, their gradients as nll, softmax, mm, sum; one update."""
    linear = nn.Sequential(nn.Flatten(), nn.Linear(3 * 4 * 4, 5))
    work = training_step(linear, 2, 4)
    assert work.launches == 3 + 5 + 1
    images, outputs, weights = 2 * 48, 2 * 5, 5 * 48
    product, gradient, update = 4 * (images + weights + 5 + outputs), 4 * (images + outputs + weights), 4 * 7 * (weights + 5)
    assert {(product, 960), (gradient, 960), (update, 0)} < set(work.operations)
    assert work.bytes < product + gradient + update + 4 * 12 * outputs
    with torch.device("meta"):
        assert training_step(nn.Sequential(nn.Flatten(), nn.Linear(3 * 4 * 4, 5)), 2, 4) == work


def test_the_roofline_counts_what_is_known():
    work = training_step(build("z2cnn", "", 10, family="plain", width=8), 2, 28)
    twice = training_step(build("z2cnn", "", 10, family="plain", width=8), 4, 28)
    assert twice.flops == 2 * work.flops
    assert work.bytes < twice.bytes < 2 * work.bytes  # parameters are moved once
    assert twice.launches == work.launches
    assert work.seconds(GPUS["L40"]) == pytest.approx(work.launches * 4e-6)  # toys are all launches
    fourier, direct = (training_step(build("z2cnn", "h4s4", 10, backend=b, width=32), 2, 28) for b in ("fourier", "direct"))
    assert fourier.flops < direct.flops
    coarse, fine = (
        training_step(build("z2cnn", "h3", 10, band_limit={"activation": points}, width=32), 2, 28) for points in (2, 4)
    )
    assert coarse.flops < fine.flops  # ReLU's finer grid costs products, forwards and backwards
