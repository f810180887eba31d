"""The tables of docs/performance.md are those of the committed measurements."""

import json
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "scripts"))

from performance_page import page  # noqa: E402


def test_the_page_is_what_was_measured():
    text = (PROJECT / "docs" / "performance.md").read_text()
    assert page(text) == text


def test_a_measurement_is_a_table_with_its_command(tmp_path):
    machine = {"cpu": "a processor", "gpu": None, "threads": 2, "simd": "AVX2", "torch": "2.14", "commit": "abc"}
    rows = [
        {"suite": "networks", "case": "plain", "seconds": 0.1},
        {"suite": "networks", "case": "H4", "seconds": 0.2, "over_plain": 2.0},
    ]
    found = {"machine": machine, "command": ["networks", "--json", "a.json"], "rows": rows}
    (tmp_path / "a.json").write_text(json.dumps(found))
    text = page("Before.\n<!-- measured -->\nold\n", tmp_path)
    assert text.startswith("Before.\n<!-- measured -->\n\n`python scripts/benchmark.py networks`\n")
    assert "| H4 | 200.0 ms | 2.00x |" in text
    assert "old" not in text
