import pytest

from t3cen.analysis.claims import statements

# In the order the paper makes them; docs/fidelity.md prints this table.
HOLDS = {
    "triangle": [True, False, True, False, True, True, False, False, False, True, False, False],
    "sine": [False, False, False, False, False, False, False, True, False, True, True, False],
    "half_sine": [False, False, False, False, False, False, False, False, False, True, False, False],
}


@pytest.mark.parametrize("cover", HOLDS)
def test_which_statements_hold(cover):
    found = statements(cover)
    assert [statement.holds for statement in found] == HOLDS[cover], "\n".join(map(str, found))
    assert all(statement.measured for statement in found)
