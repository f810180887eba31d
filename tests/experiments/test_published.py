"""Our files print every number the paper prints.

The paper's source is not in this repository. What was counted in it is: a digest of each table's cells as they are printed,
and the numbers of its text. Where the source lies beside the checkout (`../shared/paper/*.txt`), it is counted again.
After a new edition: T3CEN_COUNT_PAPER=1 pytest tests/experiments/test_published.py.
"""

import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from t3cen.experiments.schema import get_table, tables

PAPER = sorted((Path(__file__).parents[3] / "shared" / "paper").glob("*.txt"))
COUNTED = Path(__file__).with_name("counted_in_the_paper.json")
SETTINGS = {"0.5", "0.75", "0.25", "0.125", "0.0", "1.0", "48.6"}
"""Numbers of the text that are no results."""
SOURCES = {table.source: name for name, table in tables().items() if table.source.startswith("tab:")}


def _plain(cell: str) -> str:
    """A LaTeX cell in the notation of the table files."""
    cell = cell.strip()
    for pattern, replacement in (
        (r"\\smash\{(.*)\}", r"\1"),
        (r"\\underline\{(.*)\}", r"_\1_"),
        (r"\\smash\{(.*)\}", r"\1"),
        (r"\\textbf\{\s*(.*)\}", r"**\1**"),
        (r"\$\\mathbb\{T\}\^\{?3\}?\$", "T³"),
        (r"\$(\d+)\^\{\\circ\}\$", r"\1°"),
        (r"\$10\^\{(-\d+)\}\$", r"1e\1"),
        (r"\\%", ""),
    ):
        cell = re.sub(pattern, replacement, cell)
    return cell


def paper_tables() -> dict[str, list[list[str]]]:
    """Rows of cells below the heading, by the first label of each table."""
    found = {}
    for body in re.findall(r"\\begin\{table\*?\}(.*?)\\end\{table\*?\}", PAPER[0].read_text(), re.S):
        label = re.search(r"\\label\{(.*?)\}", body)[1]
        lines = re.search(r"\\begin\{tabular\}\{.*?\}(.*)\\end\{tabular\}", body, re.S)[1]
        lines = re.sub(r"\\(top|mid|bottom)rule", "", lines).split(r"\\")
        rows = [[_plain(cell) for cell in line.split("&")] for line in lines if "&" in line]
        found[label] = [row for row in rows[1:] if any(row)]
    return found


def our_rows(name: str) -> list[list[str]]:
    table = get_table(name)
    rows = []
    for section in table.sections:
        printed = [row for row in section.rows if row.published]
        if table.transposed:
            rows += [[column.label, *(row.published[i] for row in printed)] for i, column in enumerate(section.columns)]
        else:
            paper = [i for i in range(len(section.columns)) if any(row.published[i] for row in printed)]
            rows += [
                [row.label, *(row.published[i] for i in paper), *([row.parameters] if row.parameters else [])] for row in printed
            ]
    return rows


def prose() -> set[str]:
    """The results that the text names."""
    text = PAPER[0].read_text()
    text = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", text, flags=re.S)
    text = re.sub(
        r"\\(vskip|vspace|itemsep|addtolength|includegraphics|setlength)\S*( \S+in)?.*|\\begin\{subfigure\}.*|%.*",
        "",
        text.replace(r"\%", ""),
    )
    numbers = {m[1] + (f"e{m[2]}" if m[2] else "") for m in re.finditer(r"(\d+\.\d+)(?:\\times\s*10\^\{(-\d+)\})?", text)}
    return numbers - SETTINGS


def _digest(rows: list[list[str]]) -> str:
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()


def counted() -> dict:
    return json.loads(COUNTED.read_text())


@pytest.mark.skipif(not PAPER, reason="the paper's source is not here; what was counted in it is")
def test_the_count_is_of_the_paper():
    found = {"tables": {label: _digest(rows) for label, rows in sorted(paper_tables().items())}, "text": sorted(prose())}
    if os.environ.get("T3CEN_COUNT_PAPER"):
        COUNTED.write_text(json.dumps(found, indent=1) + "\n")
    assert counted() == found


def test_every_table_of_the_paper_has_a_file():
    assert set(counted()["tables"]) == set(SOURCES)


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_every_cell_is_as_the_paper_prints_it(source):
    assert _digest(our_rows(SOURCES[source])) == counted()["tables"][source]


def test_every_result_in_the_text_is_in_a_table():
    published = {cell.strip("*_") for table in tables().values() for *_, cell in table.cells() if cell is not None}
    assert counted()["text"], "no numbers found: the text was not read"
    assert set(counted()["text"]) <= published
