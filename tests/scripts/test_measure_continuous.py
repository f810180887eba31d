"""The tables of docs/continuous.md are those of the committed errors."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("measure_continuous", ROOT / "scripts" / "measure_continuous.py")
continuous = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(continuous)


def test_the_page_has_the_committed_errors():
    found = json.loads((ROOT / continuous.KEPT).read_text())["errors"]
    text = (ROOT / continuous.PAGE).read_text(encoding="utf-8")
    assert continuous.page(text, found) == text


def test_a_mode_is_a_table_and_what_was_not_measured_is_empty():
    errors = {"Q=3N": {"random": {"digits": 0.5}, "random, training": {"noise": 0.25}}, "discrete": {"trained": {"digits": 1.0}}}
    evaluation, training = continuous.tables({"net": errors}).split("In training mode:")
    assert "| net | Q=3N | digits | 5.0e-01 |  |  |  | 1.0e+00 |" in evaluation
    assert "| net | Q=3N | noise | 2.5e-01 |  |  |" in training
