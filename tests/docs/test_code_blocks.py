"""Every Python block of every page runs, in the order of the page, or says why not."""

import importlib.util
import re
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("pages", Path(__file__).parent / "pages.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)

spec = importlib.util.spec_from_file_location("wrap_markdown", pages.PROJECT / "scripts" / "wrap_markdown.py")
wrap = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wrap)

ELSEWHERE = {
    "docs/contributing.md": "tests/test_contributing.py adds its files to a copy of the repository",
    "docs/tutorial.md": "test_the_tutorial_runs, in tests/docs/test_tutorial.py",
}
SLOW = {"README.md", "docs/convert.md", "docs/export.md"}
"""They have networks of usual size, or export one."""
GIVEN = {
    "docs/your_images.md": "import torch\nmodel = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 2))\n"
    "images, labels = torch.rand(4, 3, 8, 8), [0, 1, 0, 1]\n",
}
"""What a page takes for granted."""
WITH_CODE = [name for name in pages.pages() if name not in ELSEWHERE and pages.blocks(name)]


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in WITH_CODE])
def test_it_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    exec(GIVEN.get(name, ""), names)
    for code, reason in pages.blocks(name):
        if reason is None:
            exec(compile(code, name, "exec"), names)


def test_blocks_that_are_not_run_are_found():
    text = "<!-- not run: slow -->\n\n```python\n1 / 0\n```\n\n```python\nx = 1\n```\n"
    assert [(found["code"], found["reason"]) for found in pages.BLOCK.finditer(text)] == [("1 / 0\n", "slow"), ("x = 1\n", None)]


@pytest.mark.parametrize("name", pages.pages())
def test_no_line_is_over_120(name):
    lines = (pages.PROJECT / name).read_text(encoding="utf-8").splitlines()
    long = [f"{name}:{number}" for number, line in enumerate(lines, 1) if len(line) > 120]
    assert long == [], "python scripts/wrap_markdown.py wraps prose; a row of a table with sentences is a list"


def test_prose_is_wrapped_and_nothing_else():
    words = "word " * 40
    text = f"# {words}\n\n{words}\n\n- {words}\n  more\n- next\n\n| {words} |\n\n```text\n{words}\n```\n"
    found = wrap.wrapped(text)
    assert found.split() == text.split()
    assert {line.split()[0] for line in found.splitlines() if len(line) > 120} == {"#", "|", "word"}
    assert [line for line in found.splitlines() if line.startswith("- ")][1] == "- next"
    assert sum(len(line) > 120 for line in found.splitlines()) == 3
    assert wrap.wrapped(found) == found


def anchors(text):
    """What headings are called in links, as GitHub and the site do."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", pages.pages())
def test_links_lead_somewhere(name):
    text = (pages.PROJECT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        path, _, anchor = target.partition("#")
        file = (pages.PROJECT / name).parent / path if path else pages.PROJECT / name
        assert file.exists(), f"{name} links to {target}"
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{name} links to {target}"


def test_the_table_of_the_front_page_is_that_of_the_results():
    front, full = ((pages.PROJECT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/results/hue_shift.md"))
    rows = re.findall(r"^\| (ResNet44[^|]*|T³CEN-H4) \| (\d[^|]*) \| ([^|]*) \| ([^|]*) \|$", front, re.M)
    assert [name.split()[0] for name, *_ in rows] == ["ResNet44", "T³CEN-H4"]
    for name, *cells in rows:
        [printed] = re.findall(rf"^\| {re.escape(name)} \| ours \| (.*)$", full, re.M)
        assert [re.sub(r"\*\*|</?u>", "", cell) for cell in printed.split(" | ")[:3]] == cells
