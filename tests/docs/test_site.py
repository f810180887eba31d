"""The site is built without a warning, and what a reader opens asks no other host for anything."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not all(map(find_spec, ("mkdocs", "material", "mkdocstrings"))), reason='pip install "t3cen[docs]"'),
]
FETCHED = re.compile(r"""<(?:link|script|img|iframe|source)\b[^>]*?\b(?:href|src)=["']?(?:https?:)?//[^"'> ]+""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    # Material's notice of its successor is no warning about these pages.
    env = {**os.environ, "PYTHONPATH": str(PROJECT), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(line, cwd=PROJECT, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def test_every_part_is_there(site):
    front = (site / "index.html").read_text(encoding="utf-8")
    for part in ("Start", "Use it in your network", "Reproduce the paper", "Reference", "Inside"):
        assert part in front
    assert "GroupConv2d" in (site / "reference" / "t3cen.nn.html").read_text(encoding="utf-8")
    assert "shift-report" in (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "step_jitter" in (site / "reference" / "configuration.html").read_text(encoding="utf-8")


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert FETCHED.findall(page.read_text(encoding="utf-8")) == [], page
    for style in site.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*\)|@import ['\"]https?:", style.read_text(encoding="utf-8")) == [], (
            style
        )


def test_three_ways_from_the_front_page_are_three_pages_at_most(site):
    """(a) an own model converted, (b) a laptop table, (c) a sweep on a cluster: linked from the front page."""
    front = (site / "index.html").read_text(encoding="utf-8")
    for page, said in {
        "convert.html": "t3cen.convert(",
        "results/index.html": "scale=laptop",
        "running.html": "launcher=slurm",
    }.items():
        assert f'href="{page}"' in front
        assert said in re.sub(r"<[^>]+>", "", (site / page).read_text(encoding="utf-8"))
