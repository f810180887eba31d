"""Fakes of every data set in their real formats, written once, and the scripts that damage them."""

from pathlib import Path

import pytest

from t3cen.data.fakes import write_fakes


@pytest.fixture(scope="session")
def fakes(tmp_path_factory):
    root = tmp_path_factory.mktemp("fakes")
    write_fakes(root)
    return root


@pytest.fixture
def scripts(monkeypatch):
    """`scripts/` can be imported from."""
    folder = Path(__file__).parents[2] / "scripts"
    monkeypatch.syspath_prepend(folder)
    return folder
