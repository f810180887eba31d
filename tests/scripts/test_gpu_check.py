"""scripts/gpu_check.py at toy size on the CPU, and what it makes of its numbers."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch

from t3cen.analysis.roofline import GPUS, training_step
from t3cen.models import build
from t3cen.ops import devices

PATH = Path(__file__).parents[2] / "scripts" / "gpu_check.py"
spec = importlib.util.spec_from_file_location("gpu_check", PATH)
gpu_check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gpu_check)


def layer(order, channels, direct, matmul, convolution):
    return {"order": order, "channels": channels, "direct": direct, "matmul": matmul, "convolution": convolution}


def test_the_crossover_loses_the_least_time():
    rows = [layer(4, 4, 1, 3, 9), layer(4, 8, 1, 2, 9), layer(16, 4, 2, 1, 9), layer(16, 16, 9, 1, 9)]
    assert gpu_check.crossover(rows) == {"least_width": 64, "products": "matmul"}
    assert gpu_check.crossover([layer(4, 4, 1, 9, 3)]) == {"least_width": 32, "products": "convolution"}


def test_a_check_is_whole_and_can_be_adopted(tmp_path, monkeypatch):
    path = tmp_path / "gpu_check.json"
    gpu_check.check(torch.device("cpu"), True, gpu_check.Minutes(0.05), path)
    found = json.loads(path.read_text())
    assert found["kind"] == "cpu"
    assert len(found["profile"]) == 10
    assert len(found["layers"]) + len(found["networks"]) + len(found["left_out"]) == 2 + 3 * 2 * 9
    assert not (tmp_path / "measured").exists()  # toys are no cells of a table
    monkeypatch.setattr(devices, "FILE", tmp_path / "measured.json")
    devices.FILE.write_text('{"cuda": {"least_width": 64, "products": "convolution"}}')
    with pytest.raises(ValueError, match="toy size"):
        gpu_check.adopt(path)
    path.write_text(json.dumps({"toy": False, "kind": "NVIDIA L40", "crossover": {"least_width": 32, "products": "matmul"}}))
    gpu_check.adopt(path)
    assert devices.everything.__wrapped__()["NVIDIA L40"] == devices.Measured(32, "matmul")


def test_without_a_gpu_a_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["gpu_check.py"])
    with pytest.raises(SystemExit):
        gpu_check.main()
    assert "torch finds no GPU here" in capsys.readouterr().err


def test_the_roofline_counts_what_is_known():
    work = training_step(build("z2cnn", "", 10, family="plain", width=8), 2, 28)
    twice = training_step(build("z2cnn", "", 10, family="plain", width=8), 4, 28)
    assert twice.flops == 2 * work.flops
    assert work.bytes < twice.bytes < 2 * work.bytes  # parameters are moved once
    assert twice.launches == work.launches
    assert work.seconds(GPUS["L40"]) >= work.launches * 4e-6
    fourier, direct = (training_step(build("z2cnn", "h4s4", 10, backend=b, width=32), 2, 28) for b in ("fourier", "direct"))
    assert fourier.flops < direct.flops
