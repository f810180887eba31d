"""What attacks counted: docs/reliability/<label>.json, and the table of docs/reliability.md that is made from all of them."""

from __future__ import annotations

import json
import subprocess
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
COUNTS, PAGE, MARK = DOCS / "reliability", DOCS / "reliability.md", "<!-- counts -->\n"
EXAMPLES = 10
"""So many of the cases that went wrong are kept in words."""


def keep(
    label: str,
    kind: str,
    title: str,
    cases: int,
    wrong: Sequence[str],
    *,
    code: Path,
    more: bool = False,
    folder: Path = COUNTS,
) -> None:
    """Put the counts of one kind into the file of `label`; with `more`, add them to those that are there.

    Args:
        code: the checkout that was attacked.
    """
    before = _read(folder / f"{label}.json").get(kind, {}) if more else {}
    examples = [*before.get("such as", ()), *wrong][:EXAMPLES]
    counted = {"cases": before.get("cases", 0) + cases, "wrong": before.get("wrong", 0) + len(wrong), "such as": examples}
    commits = sorted({*before.get("commits", ()), commit(code)})
    _put(folder / f"{label}.json", kind, {"title": title, **counted, "commits": commits})


def commit(code: Path) -> str:
    """The commit of a checkout, and a + where its code was changed since."""
    git = ["git", "-C", str(code)]
    name = subprocess.run([*git, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "t3cen", "conf", "train.py"], check=False).returncode
    return name + ("+" if changed else "")


def keep_reason(label: str, kind: str, title: str, reason: str, *, folder: Path = COUNTS) -> None:
    """Note why a kind cannot be tried on this code."""
    _put(folder / f"{label}.json", kind, {"title": title, "not tried": reason})


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _put(path: Path, kind: str, entry: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**_read(path), kind: entry}, indent=1, ensure_ascii=False) + "\n")


def table(folder: Path = COUNTS) -> str:
    """A line for each kind, in the order of `now`; a column for each label, `before` first."""
    counts = {path.stem: _read(path) for path in sorted(folder.glob("*.json"))}
    kinds = list(dict.fromkeys(kind for label in reversed(counts) for kind in counts[label]))
    lines = ["| what was done | " + " | ".join(f"{label}: tried | lost or wrong" for label in counts) + " |"]
    lines.append("|---" + "|---|---" * len(counts) + "|")
    for kind in kinds:
        titles = [found[kind]["title"] for found in counts.values() if kind in found]
        cells = [cell for found in counts.values() for cell in _cells(found.get(kind))]
        lines.append(f"| {titles[-1].rstrip('.')} | {' | '.join(cells)} |")
    for label, found in counts.items():
        untried = {entry["title"]: entry["not tried"] for entry in found.values() if "not tried" in entry}
        for title, reason in untried.items():
            lines += ["", *textwrap.wrap(f"Not tried on `{label}`: {title}; {reason}.", 120)]
        commits = sorted({commit for entry in found.values() for commit in entry.get("commits", ())})
        lines += ["", *textwrap.wrap(f"`{label}` is commit {', '.join(commits)}.", 120)]
    return "\n".join(lines) + "\n"


def _cells(entry: dict[str, Any] | None) -> tuple[str, str]:
    return ("", "") if entry is None or "not tried" in entry else (str(entry["cases"]), str(entry["wrong"]))


def write_page(page: Path = PAGE, folder: Path = COUNTS) -> None:
    head, mark, _ = page.read_text().partition(MARK)
    page.write_text(head + mark + table(folder))
