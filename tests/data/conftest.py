"""Fakes of every data set in their real formats, written once."""

import pytest

from t3cen.data.fakes import write_fakes


@pytest.fixture(scope="session")
def fakes(tmp_path_factory):
    root = tmp_path_factory.mktemp("fakes")
    write_fakes(root)
    return root
