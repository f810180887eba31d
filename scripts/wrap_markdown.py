"""Wrap the prose of Markdown pages at 120 characters; tables, code and headings stay as they are.

python scripts/wrap_markdown.py                every page that git knows, but those of tests
python scripts/wrap_markdown.py docs/data.md   some

Lines that are too long and no prose are printed; the exit status is then 1.
"""

import re
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
WIDTH = 120
ITEM = re.compile(r"^\s*(?:[-*] |\d+\. )?")


def wrapped(text: str) -> str:
    """The text with those paragraphs and items of lists filled anew that have a line over the width."""
    done, part, code = list[str](), list[str](), False
    for line in [*text.split("\n"), "#"]:
        fence = line.lstrip().startswith("```")
        verbatim = code or fence or not line.strip() or line.startswith(("|", "#", "    ", "<", "!["))
        if part and (verbatim or ITEM.match(line)[0].strip()):  # type: ignore[index]  # it matches everything
            done += _filled(part)
            part = []
        if verbatim:
            done.append(line)
        else:
            part.append(line)
        code ^= fence
    return "\n".join(done[:-1])


def _filled(part: list[str]) -> list[str]:
    if max(map(len, part)) <= WIDTH:
        return part
    mark = ITEM.match(part[0])[0]  # type: ignore[index]
    words = " ".join([part[0][len(mark) :], *(line.strip() for line in part[1:])])
    indents = {"initial_indent": mark, "subsequent_indent": " " * len(mark)}
    return textwrap.wrap(words, WIDTH, break_long_words=False, break_on_hyphens=False, **indents)  # type: ignore[arg-type]


def main(names: Sequence[str]) -> int:
    if not names:
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
        names = [str(PROJECT / name) for name in listed.splitlines() if not name.startswith("tests/")]
    left = 0
    for path in map(Path, names):
        before = path.read_text(encoding="utf-8")
        after = wrapped(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
        for number, line in enumerate(after.splitlines(), 1):
            if len(line) > WIDTH:
                print(f"{path}:{number}: {len(line)} characters: {line[:60]}...")
                left += 1
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
