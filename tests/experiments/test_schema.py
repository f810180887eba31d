"""What a table file may say."""

import pytest
from omegaconf import OmegaConf

from t3cen.experiments.schema import TABLE_DIR, get_table, parse, tables

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
        ("label: A, ", "", "column: 'label' missing"),
        (TABLE, "title: T", "'source' and 'caption' missing"),
        (TABLE, "title: [", "is no YAML: while parsing"),
        (TABLE, "rows: [h4]", "row: a mapping expected, got 'h4'"),
        (TABLE, "sections: [h4]", "section: a mapping expected, got 'h4'"),
        ("seeds: [1, 2]", "seeds: 3", "seeds must be a list, got 3"),
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


def test_what_macos_leaves_is_no_table(tmp_path):
    (tmp_path / "kutomadata.yaml").write_text((TABLE_DIR / "kutomadata.yaml").read_text())
    (tmp_path / "._kutomadata.yaml").write_bytes(b"\x00\x05\x16\x07\xb0")
    assert list(tables(tmp_path)) == ["kutomadata"]


def test_an_unknown_table_names_the_nearest():
    with pytest.raises(ValueError, match=r"no table 'hue'; did you mean hue_shift"):
        get_table("hue")


@pytest.mark.parametrize("path", sorted(TABLE_DIR.glob("*.yaml")), ids=lambda path: path.stem)
def test_no_key_is_written_twice(path):
    OmegaConf.load(path)  # its loader refuses duplicate keys, the fast one does not
