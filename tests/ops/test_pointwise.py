"""Convolutions with 1x1 kernels as matrix products, against PyTorch's own."""

import pytest
import torch
from torch.nn import functional as F

from t3cen.ops.cpu import pointwise
from t3cen.ops.geometry import ConvGeometry


@pytest.mark.parametrize("side", [1, 3, 8])
@pytest.mark.parametrize(("groups", "inputs", "outputs"), [(5, 3, 7), (25, 4, 2), (1, 6, 6), (6, 1, 1)])
def test_a_pointwise_convolution_is_pytorchs(side, groups, inputs, outputs):
    maps = torch.randn(3, groups * inputs, side, side + 1, dtype=torch.double, requires_grad=True)
    filters = torch.randn(groups * outputs, inputs, 1, 1, dtype=torch.double, requires_grad=True)
    wanted = F.conv2d(maps, filters, None, groups=groups)
    torch.testing.assert_close(pointwise.forward(maps, filters, groups), wanted)
    gradient = torch.randn_like(wanted)
    both = torch.autograd.grad(wanted, (maps, filters), gradient)
    for needed in ([True, True], [True, False], [False, True]):
        made = pointwise.backward(gradient, maps, filters, groups, needed)
        for found, exact, asked in zip(made, both, needed, strict=True):
            if asked:
                torch.testing.assert_close(found, exact)
            else:
                assert found is None


def test_an_empty_batch_has_gradients_of_its_shape():
    maps, filters = torch.zeros(0, 10, 2, 2), torch.randn(15, 2, 1, 1)
    assert pointwise.forward(maps, filters, 5).shape == (0, 15, 2, 2)
    to_maps, to_filters = pointwise.backward(torch.zeros(0, 15, 2, 2), maps, filters, 5, [True, True])
    assert to_maps.shape == maps.shape
    assert to_filters.shape == filters.shape
    assert not to_filters.any()


@pytest.mark.parametrize("geometry", [ConvGeometry((2, 2)), ConvGeometry((1, 1), (1, 0)), ConvGeometry((1, 2))])
def test_it_takes_no_strides_and_no_borders(geometry):
    filters = torch.zeros(4, 1, 1, 1)
    assert pointwise.takes(filters, ConvGeometry())
    assert not pointwise.takes(filters, geometry)
    assert not pointwise.takes(filters.expand(-1, -1, 1, 3), ConvGeometry())
