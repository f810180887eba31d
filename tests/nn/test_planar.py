"""Planar: a 2-D module on every group element."""

import pytest
import torch
from torch import nn

from t3cen.nn import Planar


@pytest.mark.parametrize("module", [nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Upsample(scale_factor=2), nn.Conv2d(3, 5, 3)])
def test_every_element_is_treated_alike(module):
    x = torch.randn(2, 4, 3, 6, 7, generator=torch.Generator().manual_seed(0))
    out = Planar(module)(x)
    for i in range(4):
        torch.testing.assert_close(out[:, i], module(x[:, i]))


def test_flattening_modules_keep_the_group():
    assert Planar(nn.Flatten())(torch.zeros(2, 4, 3, 2, 2)).shape == (2, 4, 12)


def test_wrong_input_says_both_numbers():
    with pytest.raises(ValueError, match=r"4 axes.*5 expected"):
        Planar(nn.MaxPool2d(2))(torch.zeros(2, 3, 4, 4))
