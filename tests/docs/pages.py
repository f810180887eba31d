"""The Markdown pages of the repository, and the Python in them."""

import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).parents[2]
BLOCK = re.compile(r"(?:^<!-- not run: (?P<reason>.+) -->\n\n?)?^```python\n(?P<code>.*?)^```", re.M | re.S)


def pages():
    """Every page that git knows, by its path from the project, except what tests print."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if not name.startswith("tests/")]


def blocks(name):
    """The Python of a page: code, and why it is not run, or None."""
    text = (PROJECT / name).read_text(encoding="utf-8")
    return [(found["code"], found["reason"]) for found in BLOCK.finditer(text)]
