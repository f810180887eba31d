"""What a table file may say, and that our files print every number the paper prints."""

import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from t3cen.experiments.schema import TABLE_DIR, get_table, parse, tables

PAPER = sorted((Path(__file__).parents[3] / "shared" / "paper").glob("*.txt"))
needs_paper = pytest.mark.skipif(not PAPER, reason="the paper's source is not here")

TABLE = """
title: A table
source: own
caption: Two networks.
seeds: [1, 2]
columns:
  - {label: A, data: mnist, test: in}
  - {label: B, data: mnist, test: shift}
rows:
  - {name: plain, label: Plain, model: plain}
  - {name: h4, label: H4, model: t3cen, group: h4, published: ["1.00", "**2.00**"]}
"""


def test_cells_come_in_printed_order_with_what_the_paper_prints():
    cells = [(row.name, column.test, printed) for _, row, column, printed in parse("a", TABLE).cells()]
    assert cells == [("plain", "in", None), ("plain", "shift", None), ("h4", "in", "1.00"), ("h4", "shift", "**2.00**")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("model: plain", "modle: plain", r"row 'plain': unknown key 'modle'; did you mean model\?"),
        (", model: plain", "", "row 'plain' names no model"),
        ("test: in", "tset: in", r"column: unknown key 'tset'; did you mean .*test"),
        ("label: A, ", "", "missing.*'label'"),
        ('"1.00", ', "", "row 'h4' has 1 published cells, 2 columns expected"),
        ("name: plain", "name: h4", "row 'h4' is listed 2 times"),
        ("model: plain", "model: plain, same_as: h3", "same as 'h3', which is no row"),
        ("seeds: [1, 2]", "", "needs seeds"),
        ("seeds: [1, 2]", "seeds: [1, 2, 1]", "a seed is listed twice in 1, 2, 1"),
        ("seeds: [1, 2]", "seeds: [1, 2e0]", "seeds are whole numbers, got 1, "),
        ("source: own", "source: own\nmetric: f1", "metric 'f1' is none of error, accuracy"),
        ("source: own", "source: own\nkind: guessed", "kind 'guessed' is none of"),
        ("test: in", "name: in", "column 'A' needs `data` and `test`"),
        (TABLE, "- 1", "a mapping expected"),
    ],
)
def test_a_wrong_table_file_is_refused_with_its_name_and_the_mistake(old, new, message):
    assert old in TABLE
    with pytest.raises(ValueError, match=f"(?s)conf/table/a.yaml.*{message}"):
        parse("a", TABLE.replace(old, new, 1))


@pytest.mark.parametrize("spelled", ["3e-3", "3E-3", "3.e-3", "+.3e-2", "0.003", '"3e-3"'])
def test_a_number_is_a_number_however_it_is_spelled(spelled):
    table = parse("a", TABLE.replace("model: plain", f"model: plain, set: {{optimizer.lr: {spelled}, a: [{spelled}, 3e]}}", 1))
    assert table.sections[0].rows[0].set == {"optimizer.lr": 0.003, "a": [0.003, "3e"]}


def test_an_unknown_table_names_the_nearest():
    with pytest.raises(ValueError, match=r"no table 'hue'; did you mean hue_shift"):
        get_table("hue")


@pytest.mark.parametrize("path", sorted(TABLE_DIR.glob("*.yaml")), ids=lambda path: path.stem)
def test_no_key_is_written_twice(path):
    OmegaConf.load(path)  # its loader refuses duplicate keys, the fast one does not


# The paper's own LaTeX, read without looking at our files.


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


SOURCES = {table.source: name for name, table in tables().items() if table.source.startswith("tab:")}


@needs_paper
def test_every_table_of_the_paper_has_a_file():
    assert set(paper_tables()) == set(SOURCES)


@needs_paper
@pytest.mark.parametrize("source", sorted(SOURCES))
def test_every_cell_is_as_the_paper_prints_it(source):
    assert our_rows(SOURCES[source]) == paper_tables()[source]


@needs_paper
def test_every_result_in_the_text_is_in_a_table():
    text = PAPER[0].read_text()
    text = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", text, flags=re.S)
    text = re.sub(
        r"\\(vskip|vspace|itemsep|addtolength|includegraphics|setlength)\S*( \S+in)?.*|\\begin\{subfigure\}.*|%.*",
        "",
        text.replace(r"\%", ""),
    )
    prose = {m[1] + (f"e{m[2]}" if m[2] else "") for m in re.finditer(r"(\d+\.\d+)(?:\\times\s*10\^\{(-\d+)\})?", text)}
    settings = {"0.5", "0.75", "0.25", "0.125", "0.0", "1.0", "48.6"}
    published = {cell.strip("*_") for table in tables().values() for *_, cell in table.cells() if cell is not None}
    assert prose - settings, "no numbers found: the text is not read"
    assert prose - settings <= published
