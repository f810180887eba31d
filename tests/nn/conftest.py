"""What tests of layers share."""

import pytest

from t3cen.ops.cpu import kernels


@pytest.fixture
def compiled():
    """A machine that tests compiled code has a compiler."""
    kernels.use("on")
    yield
    kernels.use("auto")
