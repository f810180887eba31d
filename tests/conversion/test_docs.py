"""The code of docs/convert.md and docs/own_quantity.md runs as it is printed."""

import importlib.util
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (PROJECT / "docs" / page).read_text(), re.M | re.S)


@pytest.mark.slow  # ResNet18 as it is
@pytest.mark.parametrize("block", blocks("convert.md"))
def test_each_block_of_the_page_on_conversion(block):
    exec(compile(block, "docs/convert.md", "exec"), {"__name__": "page"})


def test_an_own_quantity():
    names = {"__name__": "page"}
    for block in blocks("own_quantity.md"):
        exec(compile(block, "docs/own_quantity.md", "exec"), names)
    with pytest.raises(ValueError, match="a thermal image is"):
        names["network"](2 * names["images"])


def test_the_table_has_every_family():
    spec = importlib.util.spec_from_file_location("convert_families", PROJECT / "scripts" / "convert_families.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (PROJECT / "docs" / "convert.md").read_text()
    measured = re.findall(r"^\| (\w+) \| [\d.]+ M \|", page, re.M)
    assert measured == list(script.FAMILIES) * len(script.GROUPS) or f"{script.MARK}\nWhere a change" in page
    assert script.page(script.page(page, "| a |\n"), "| b |\n") == script.page(page, "| b |\n")
