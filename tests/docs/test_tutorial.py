"""The tutorial: the page is the script, and the script runs."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("tutorial_page", PROJECT / "scripts" / "tutorial_page.py")
tutorial = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tutorial)
SCRIPT = (PROJECT / "scripts" / "tutorial.py").read_text(encoding="utf-8")


def without_output(page):
    return re.sub(r"(?<=```\n\n)```text\n.*?^```\n\n", "", page, flags=re.M | re.S)


def test_the_page_is_the_script():
    page = (PROJECT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert without_output(page).rstrip() == tutorial.page(SCRIPT, run=False).rstrip()
    assert len(page) > len(without_output(page)) + 200


def test_a_page_has_text_code_and_what_it_prints():
    page = tutorial.page("# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nprint(6 * 7)  # noqa: T201\n")
    assert page == f"{tutorial.NOTE}\n\n# Title\n\nText.\n\n```python\nprint(6 * 7)\n```\n\n```text\n42\n```\n"


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "tutorial").mkdir(parents=True)
    short = SCRIPT.replace("batch_size=32", "batch_size=32, train_size=320, test_size=64")
    assert short != SCRIPT
    page = tutorial.page(short)
    assert len(list((tmp_path / "docs" / "tutorial").glob("*.png"))) == 3
    assert "right as trained" in page
    assert "matplotlib" in sys.modules
