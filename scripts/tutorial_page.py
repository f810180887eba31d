"""Run scripts/tutorial.py, and write docs/tutorial.md: its text, its code, what that prints, and its pictures.

python scripts/tutorial_page.py     two minutes
"""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.M)
NOTE = "<!-- Made by scripts/tutorial_page.py from scripts/tutorial.py. -->"


def cells(script: str) -> Iterator[tuple[bool, str]]:
    """Whether it is text, and the text or code, of every cell of a script."""
    _, *parts = CELL.split(script)
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        text = re.sub(r"^# ?", "", body, flags=re.M) if kind else body
        yield bool(kind), text.strip()


def page(script: str, run: bool = True) -> str:
    """The page; code that is run leaves what it prints behind it."""
    names: dict[str, object] = {"__name__": "tutorial"}
    lines = [NOTE, ""]
    for is_text, body in cells(script):
        if is_text:
            lines += [body, ""]
            continue
        lines += ["```python", re.sub(r"  # (noqa|fmt).*", "", body), "```", ""]
        printed = io.StringIO()
        if run:
            with contextlib.redirect_stdout(printed):
                exec(compile(body, "scripts/tutorial.py", "exec"), names)
        if printed.getvalue():
            lines += ["```text", *printed.getvalue().rstrip().splitlines(), "```", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    with contextlib.chdir(PROJECT):
        script = (PROJECT / "scripts" / "tutorial.py").read_text(encoding="utf-8")
        (PROJECT / "docs" / "tutorial.md").write_text(page(script), encoding="utf-8")
