"""Every column names a test set that its data set has."""

import pytest

from t3cen.experiments import all_runs, run_of, trained_tables
from t3cen.experiments.composition import compose
from t3cen.training.run import make_data

COLUMNS = sorted({(column.data, column.test) for table in trained_tables() for _, _, column, _ in table.cells() if column.test})
RENDERED_ONLY = {("shapes3d_sat", "C_parts")}


@pytest.mark.parametrize("data", sorted({data for data, _ in COLUMNS}))
def test_columns_are_test_sets(data):
    row, column = next((row, column) for table in trained_tables() for _, row, column, _ in table.cells() if column.data == data)
    config = compose(run_of(row, column), "paper")
    assert run_of(row, column).name in all_runs()
    names = set(make_data(config).test_names)
    wanted = {test for name, test in COLUMNS if name == data}
    assert wanted - {test for name, test in RENDERED_ONLY if name == data} <= names
    if "rendered" in type(make_data(config)).sources:
        assert wanted <= set(make_data({**config, "data": {**config["data"], "source": "rendered"}}).test_names)
