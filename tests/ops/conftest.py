"""What tests of operations share."""

import pytest

from t3cen.ops import kernels


@pytest.fixture
def compiled():
    """A machine that tests compiled code has a compiler."""
    kernels.use("on")
    yield
    kernels.use("auto")
