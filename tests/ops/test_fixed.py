"""Convolution with filters that never change: the same numbers as with those that may, whatever the maps."""

import pytest
import torch

from t3cen.ops.cpu import fixed, products
from t3cen.ops.fixed import fixed_conv2d
from t3cen.ops.fourier import fourier_conv2d
from t3cen.ops.transform import rank

ORDERS = [4]
GEOMETRY = [1, 1, 1, 1, 1, 1]


def tensors(channels=16, outputs=16, side=8, batch=1, groups=1, orders=ORDERS, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    maps, filters = (batch, torch.Size(orders).numel(), channels, side, side), (rank(orders) * outputs, channels // groups, 3, 3)
    shapes = maps, filters, (outputs,)
    return [torch.randn(shape, dtype=dtype, generator=generator) for shape in shapes]


def same(got, want):
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6 * float(want.abs().max()))


def planned(maps, filters, orders=ORDERS, geometry=GEOMETRY):
    return fixed._planned(maps, filters, orders, geometry) is not None


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("sizes", "geometry", "with_a_plan"),
    [
        ({}, GEOMETRY, True),
        ({"batch": 3, "outputs": 24}, GEOMETRY, True),
        ({"side": 16}, [2, 2, 1, 1, 1, 1], True),
        ({"channels": 32, "outputs": 32, "groups": 2, "side": 9}, GEOMETRY, True),
        ({"orders": [4, 4], "side": 5}, GEOMETRY, True),
        ({"side": 3}, GEOMETRY, False),  # too few numbers for the compiled transform
        ({}, [1, 1, 2, 2, 2, 2], False),  # no compiled convolution
        ({"dtype": torch.float64}, GEOMETRY, False),
    ],
)
def test_the_same_as_with_filters_that_may_change(sizes, geometry, with_a_plan, bias, compiled):
    maps, filters, constant = tensors(**sizes)
    arguments = (constant if bias else None, sizes.get("orders", ORDERS), geometry)
    assert planned(maps, filters, *arguments[1:]) == with_a_plan
    for _ in range(2):  # when it is planned, and by the plan
        same(fixed_conv2d(maps, filters, *arguments), fourier_conv2d(maps, filters, *arguments))


def test_maps_in_another_order_and_none(compiled):
    maps, filters, bias = tensors(batch=2)
    want = fourier_conv2d(maps, filters, bias, ORDERS, GEOMETRY)
    apart = maps.permute(0, 1, 3, 4, 2).contiguous().permute(0, 1, 4, 2, 3)
    same(fixed_conv2d(apart, filters, bias, ORDERS, GEOMETRY), want)
    assert fixed_conv2d(maps[:0], filters, bias, ORDERS, GEOMETRY).shape == want[:0].shape


def test_filters_that_do_change_are_seen(compiled):
    maps, filters, bias = tensors()
    fixed_conv2d(maps, filters, bias, ORDERS, GEOMETRY)
    filters.mul_(2)
    want = fourier_conv2d(maps, filters, bias, ORDERS, GEOMETRY)
    same(fixed_conv2d(maps, filters, bias, ORDERS, GEOMETRY), want)


def test_it_goes_with_the_switch_of_compiled_code(compiled, monkeypatch):
    maps, filters, bias = tensors()
    want = fixed_conv2d(maps, filters, bias, ORDERS, GEOMETRY)
    assert planned(maps, filters)
    monkeypatch.setattr("t3cen.ops.kernels._chosen", ["off"])
    assert not planned(maps, filters)
    same(fixed_conv2d(maps, filters, bias, ORDERS, GEOMETRY), want)


def test_many_sizes_are_not_all_remembered(compiled):
    _, filters, bias = tensors()
    for side in range(8, 8 + fixed.MOST_SHAPES + 3):
        fixed_conv2d(tensors(side=side)[0], filters, bias, ORDERS, GEOMETRY)
    assert 0 < len(fixed._PLANS[filters][1]) <= fixed.MOST_SHAPES


def test_a_batch_that_leaves_the_cache_is_cut_as_ever(compiled):
    maps, filters, _ = tensors(channels=32, side=32, batch=32)
    assert len(list(products._chunks(maps, filters, 5))) > 1
    assert not planned(maps, filters)
