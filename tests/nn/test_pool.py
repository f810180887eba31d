"""GroupPool: invariant, over the group axis alone."""

import pytest
import torch

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupPool


@pytest.mark.parametrize("mode", ["max", "mean"])
@pytest.mark.parametrize("plane", [(), (3, 2)])
def test_is_invariant(mode, plane):
    group = CyclicProduct(2, 3)
    f = torch.randn(2, 6, 4, *plane, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    pool = GroupPool(mode)
    assert pool(f).shape == (2, 4, *plane)
    for element in group.elements():
        torch.testing.assert_close(pool(group.act(f, element)), pool(f))


def test_values():
    f = torch.tensor([[[1.0], [5.0]]])
    assert GroupPool("max")(f).item() == 5
    assert GroupPool("mean")(f).item() == 3
    assert GroupPool().mode == "max"


def test_wrong_use_says_what_is_allowed():
    with pytest.raises(ValueError, match="max, mean"):
        GroupPool("min")
    with pytest.raises(ValueError, match=r"2 axes.*at least 3"):
        GroupPool()(torch.zeros(2, 3))
