import subprocess
import sys

import pytest

import t3cen.analysis


@pytest.mark.parametrize("name", t3cen.analysis.__all__)
def test_every_name_is_what_it_says(name):
    assert getattr(t3cen.analysis, name).__name__ == name


def test_unknown_names_are_named():
    with pytest.raises(AttributeError, match="no 'nothing'; it has ClippedLifting"):
        _ = t3cen.analysis.nothing


@pytest.mark.slow
def test_no_name_is_hidden_by_a_module_of_that_name():
    code = (
        "import importlib, pkgutil, t3cen.analysis as a\n"
        "[importlib.import_module(f't3cen.analysis.{m.name}') for m in pkgutil.iter_modules(a.__path__)]\n"
        "print([n for n in a.__all__ if not callable(getattr(a, n))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
