"""Which cells are marked best and second best."""

import pytest

from t3cen.experiments.schema import parse
from t3cen.results.cells import Cells
from t3cen.results.records import load
from t3cen.tables.build import build

TABLE = """
title: A
source: own
caption: A
seeds: [1999]
columns:
  - {label: Parameters, data: mnist, quantity: parameters}
  - {label: Accuracy, data: mnist, test: in, metric: accuracy}
  - {label: Error, data: mnist, test: shift}
rows:
  - {name: z2cnn, label: Z2CNN, model: plain}
  - {name: h4, label: H4, model: t3cen, group: h4}
"""


@pytest.fixture
def marks(result_file, tmp_path):
    def of(source):
        result_file("mnist_z2cnn", 1999, {"in": 900, "shift": 900}, parameters=20)
        result_file("mnist_h4", 1999, {"in": 800, "shift": 800}, parameters=10, source=source)
        results = load(tmp_path)
        printed = build(parse("a", TABLE), Cells(results, "paper"), tmp_path)
        return [[cell.mark for cell in row.cells] for row in printed.sections[0].rows]

    return of


def test_marks_stay_with_their_column_beside_one_that_has_none(marks):
    assert marks("files") == [[None, "best", "best"], [None, "second", "second"]]


def test_cells_of_different_data_are_not_ranked(marks):
    assert marks("bundled") == [[None, None, None], [None, None, None]]
