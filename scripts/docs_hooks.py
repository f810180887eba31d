"""What mkdocs.yml cannot say: pages made from the code itself, and links to files that are no pages."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from t3cen.registry import Registry

PROJECT = Path(__file__).resolve().parents[1]
CONF = PROJECT / "conf"
MODULES = (
    "t3cen", "t3cen.nn", "t3cen.models", "t3cen.groups", "t3cen.covers", "t3cen.color", "t3cen.testing", "t3cen.export",
    "t3cen.importers", "t3cen.analysis", "t3cen.data.module", "t3cen.data.folder", "t3cen.data.shifts", "t3cen.augment",
)  # fmt: skip
"""Whose public names the reference has, one page each."""
GROUPS = ("trainer", "model", "data", "augment", "optimizer", "scheduler", "callbacks", "logger", "launcher", "scale")
"""Of the configuration, in the order of the page."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put one page a module and one a table of results into the navigation."""
    tables = sorted(path.name for path in (PROJECT / "docs" / "results").glob("*.md") if path.name != "README.md")
    made: dict[str, list[Any]] = {
        "REFERENCE": [{module: f"reference/{module}.md"} for module in MODULES],
        "RESULTS": ["results/README.md", *(f"results/{name}" for name in tables)],
    }
    for part in config.nav or []:
        for entry in (entry for entries in part.values() for entry in entries if isinstance(entry, dict)):
            for title, pages in entry.items():
                entry[title] = made.get(pages, pages)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    for uri, text in _made():
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links called by a page's file get its title; links to files of the repository that are no pages become their names.

    A printed table's heading becomes the title of its page. A picture is a link to itself: a phone shows it small.
    """

    def plain(link: re.Match[str]) -> str:
        target = (PROJECT / "docs" / page.file.src_uri).parent / link[2].partition("#")[0]
        inside = os.path.relpath(os.path.normpath(target), PROJECT)
        return link[0] if inside.startswith("docs/") else f"{link[1]} (`{inside}`)" if link[1] != inside else f"`{inside}`"

    def titled(link: re.Match[str]) -> str:
        file = (PROJECT / "docs" / page.file.src_uri).parent / link[2]
        head = re.search(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.M) if file.is_file() else None
        return f"[{head[1]}]({link[2]}{link[3]})" if head else link[0]

    if page.file.src_uri.startswith("results/"):
        markdown = re.sub(r"\A### ", "# ", markdown)
    markdown = re.sub(r"(?<!!)\[([^\]]+)\]\((\.\./[^)]+)\)", plain, markdown)
    markdown = re.sub(r"(?<!\[)(!\[[^\]]*\]\(([^)\s]+)\))", r"[\1](\2)", markdown)
    return re.sub(r"\[((?:docs/)?[\w/]+\.md|docs/[\w/]+)\]\(((?:\.\./)?[\w/]+\.md)((?:#[\w-]+)?)\)", titled, markdown)


def _made() -> Iterator[tuple[str, str]]:
    front = (PROJECT / "README.md").read_text(encoding="utf-8")
    yield "index.md", front.replace("](docs/", "](").replace("](CITATION.cff)", "](../CITATION.cff)")
    yield "reference/index.md", _index()
    yield "reference/commands.md", _commands()
    yield "reference/configuration.md", _configuration()
    for module in MODULES:
        parts = "\n\n".join(f"::: {name}" for name in _public(module))
        yield f"reference/{module}.md", f"# `{module}`\n\n{_first_line(module)}\n\n{parts}\n"


# -- Python ------------------------------------------------------------------------------------------------------------


def _first_line(module: str) -> str:
    return (importlib.import_module(module).__doc__ or "").partition("\n\n")[0]


def _public(module: str) -> list[str]:
    """The full names of what a module offers, or of what is registered in it, where each is defined."""
    here = importlib.import_module(module)
    if hasattr(here, "__all__"):
        found = [getattr(here, name) for name in sorted(here.__all__, key=str.lower)]
    else:
        own = {name: value for name, value in vars(here).items() if getattr(value, "__module__", "") == module}
        found = [value for name, value in own.items() if not name.startswith("_") and callable(value)]
        for registry in [value for value in vars(here).values() if isinstance(value, Registry)]:
            found += [registry[name] for name in registry]
    return [f"{value.__module__}.{value.__qualname__}" for value in found]


def _index() -> str:
    lines = ["# Reference", "", "| page | what it has |", "|---|---|"]
    lines += ["| [commands](commands.md) | every command and its options |"]
    lines += ["| [configuration](configuration.md) | every key that a command line of `t3cen train` can set |"]
    lines += [f"| [`{module}`]({module}.md) | {' '.join(_first_line(module).split())} |" for module in MODULES]
    return "\n".join(lines) + "\n"


# -- commands ----------------------------------------------------------------------------------------------------------


def _commands() -> str:
    from t3cen.project import SCRIPTS

    lines = ["# Commands", "", "What `t3cen COMMAND --help` prints. In a checkout each is a script too.", ""]
    for name in SCRIPTS:
        shown = name.replace("_", "-")
        lines += [f"## t3cen {shown}", "", f"In a checkout: `python {SCRIPTS[name]}`", "", "```text", _help(name), "```", ""]
    return "\n".join(lines)


def _help(name: str) -> str:
    if name == "train":  # Hydra reads the command line of its own process
        line = [sys.executable, "-m", "t3cen.commands.train", "--help"]
        text = subprocess.run(line, capture_output=True, text=True, check=True, cwd=PROJECT).stdout
    else:
        caught = io.StringIO()
        with contextlib.redirect_stdout(caught), contextlib.suppress(SystemExit):
            importlib.import_module(f"t3cen.commands.{name}").main(["--help"])
        text = caught.getvalue()
    return text.replace(str(PROJECT) + "/", "").strip()


# -- configuration -----------------------------------------------------------------------------------------------------


def _configuration() -> str:
    lines = [
        "# Configuration", "", "`t3cen train KEY=VALUE ...` sets a key, and `GROUP=NAME` takes a file of `conf/GROUP`. "
        "Later ones win. What a data set's class takes besides is in [its reference](t3cen.data.module.md).", "",
        "## Every run", "", *_keys(CONF / "train.yaml"),
    ]  # fmt: skip
    for group in GROUPS:
        lines += [f"## {group}", ""]
        for file in sorted((CONF / group).glob("*.yaml")):
            lines += [f"### {group}={file.stem}", "", *_keys(file)]
    return "\n".join(lines)


def _keys(file: Path) -> list[str]:
    """The comment at the head of a file, and a table of its keys, their values, and their comments."""
    text = file.read_text(encoding="utf-8")
    rows = [line for node in [yaml.compose(text)] if node for line in _rows(node, text.splitlines(), "")]
    head = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith("# @"):
            head.append(line.removeprefix("#").strip())
    table = ["| key | value | |", "|---|---|---|", *rows, ""] if rows else []
    return [" ".join(head), "", *table]


def _rows(node: yaml.Node, lines: list[str], path: str) -> Iterator[str]:
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        if (name := f"{path}{key.value}") in ("defaults", "hydra"):
            continue
        if isinstance(value, yaml.MappingNode) and value.value and not value.flow_style:
            yield from _rows(value, lines, f"{name}.")
        else:
            first, last = value.start_mark, value.end_mark
            code = lines[first.line][first.column : last.column if last.line == first.line else None].partition(" #")[0]
            cells = (f"`{name}`", f"`{code.strip()}`" if code.strip() else "", _comment(lines, key.start_mark.line))
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _comment(lines: list[str], line: int) -> str:
    behind = re.search(r"\s#\s(.*)$", lines[line])
    above = []
    while line and lines[line - 1].lstrip().startswith("#") and line > 1:
        line -= 1
        above.insert(0, lines[line].lstrip(" #"))
    return " ".join([*above, *([behind[1]] if behind else [])])
