"""Band-limited functions on the group: interpolated, projected, moved by any angle, and what keeps them so."""

import copy
import pickle

import numpy as np
import pytest
import torch

from t3cen.algebra.band import band, interpolation, projection, translation
from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.nn import BandLimit, GroupBatchNorm2d, GroupConv2d, Interpolate, Project, shift

ORDERS = [3, 4, 5, 6, 9, 16]
GROUPS = [(5,), (4,), (3, 4), (1, 5, 3)]


def polynomial(order, places):
    """Random real trigonometric polynomial of the band of `order`, at `places` in turns."""
    rng = np.random.default_rng(order)
    k = np.arange(1, band(order) + 1)
    cos, sin = rng.normal(size=(2, len(k)))
    phase = 2 * np.pi * np.asarray(places)[:, None] * k
    return 1.5 + np.cos(phase) @ cos + np.sin(phase) @ sin


def band_limited_function(group, batch=2, channels=3, dtype=torch.float64):
    noise = torch.randn(batch, group.order, channels, 4, 4, dtype=dtype, generator=torch.Generator().manual_seed(0))
    return Project(group, 1)(noise)


@pytest.mark.parametrize("order", ORDERS)
def test_interpolation_passes_through_the_polynomial(order):
    samples = polynomial(order, np.arange(order) / order)
    for points in (order, order + 1, 3 * order):
        np.testing.assert_allclose(
            interpolation(order, points) @ samples, polynomial(order, np.arange(points) / points), atol=1e-12
        )


@pytest.mark.parametrize("order", ORDERS)
def test_projection_undoes_interpolation_and_drops_every_other_frequency(order):
    points = 4 * order
    np.testing.assert_allclose(
        projection(order, points) @ interpolation(order, points) @ polynomial(order, np.arange(order) / order),
        polynomial(order, np.arange(order) / order),
        atol=1e-12,
    )
    places = np.arange(points) / points
    for frequency in range(band(order) + 1, points // 2 + 1):
        np.testing.assert_allclose(projection(order, points) @ np.cos(2 * np.pi * frequency * places), 0, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("steps", [0.3, -1.7, 0.5, 2.0])
def test_translation_moves_the_polynomial(order, steps):
    moved = translation(order, steps) @ polynomial(order, np.arange(order) / order)
    np.testing.assert_allclose(moved, polynomial(order, (np.arange(order) + steps) / order), atol=1e-12)


@pytest.mark.parametrize("orders", GROUPS)
def test_whole_steps_are_the_groups_own_action(orders):
    group = CyclicProduct(*orders)
    f = torch.randn(2, group.order, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for element in group.elements():
        torch.testing.assert_close(shift(f, group, element), group.act(f, element), rtol=0, atol=1e-13)


@pytest.mark.parametrize("orders", GROUPS)
def test_shifts_add_up(orders):
    group = CyclicProduct(*orders)
    f = band_limited_function(group)
    a, b = [0.3] * len(orders), [-1.45] * len(orders)
    both = [x + y for x, y in zip(a, b, strict=True)]
    torch.testing.assert_close(shift(shift(f, group, a), group, b), shift(f, group, both), rtol=0, atol=1e-12)
    assert (shift(f, group, a) - f).abs().max() > 0.1


def test_the_middle_frequency_of_an_even_order_is_dropped():
    middle = torch.tensor([1.0, -1, 1, -1], dtype=torch.float64).view(1, 4, 1)
    assert Project(CyclicProduct(4), 1)(middle).abs().max() < 1e-15
    assert Interpolate(CyclicProduct(4), 3)(middle).abs().max() < 1e-15


@pytest.mark.parametrize("orders", GROUPS)
@pytest.mark.parametrize("train", [True, False])
def test_normalisation_commutes_with_every_shift(orders, train):
    group = CyclicProduct(*orders)
    f, norm = band_limited_function(group), GroupBatchNorm2d(3).double()
    norm(2 * f + 1)
    norm.train(train)
    angle = [0.3] * len(orders)
    torch.testing.assert_close(norm(shift(f, group, angle)), shift(norm(f), group, angle), rtol=0, atol=1e-12)


@pytest.mark.parametrize("orders", GROUPS)
def test_statistics_over_the_samples_are_those_of_the_circle(orders):
    group = CyclicProduct(*orders)
    f = band_limited_function(group)
    circle = Interpolate(group, 5)(f)
    for statistic in (torch.mean, lambda t: t.var(unbiased=False)):
        torch.testing.assert_close(statistic(f), statistic(circle), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("orders", GROUPS)
@pytest.mark.parametrize("backend", ["direct", "fourier"])
def test_group_convolution_keeps_the_band_and_commutes_with_every_shift(orders, backend):
    group = CyclicProduct(*orders)
    conv = GroupConv2d(3, 2, 3, group, padding=1, backend=backend).double()
    f, angle = band_limited_function(group), [0.3] * len(orders)
    torch.testing.assert_close(Project(group, 1)(conv(f)), conv(f), rtol=0, atol=1e-12)
    torch.testing.assert_close(conv(shift(f, group, angle)), shift(conv(f), group, angle), rtol=0, atol=1e-12)


def test_the_trivial_group_falls_out():
    f = torch.randn(2, 1, 3, 4, 4)
    assert torch.equal(Interpolate(ColorGroup(), 3)(f), f)
    assert torch.equal(Project(ColorGroup(), 3)(f), f)
    assert torch.equal(shift(f, ColorGroup(), (0.3, 0, 0)), f)


def test_matrices_follow_the_modules_precision_and_stay_out_of_its_state():
    up = Interpolate(CyclicProduct(5), 3)
    assert not up.state_dict()
    f = band_limited_function(CyclicProduct(5))
    exact = torch.as_tensor(interpolation(5, 15))
    for module in (up, copy.deepcopy(up), pickle.loads(pickle.dumps(up)), up.bfloat16().double()):
        torch.testing.assert_close(module(f)[0, :, 0, 0, 0], exact @ f[0, :, 0, 0, 0], rtol=0, atol=1e-14)
    assert up.bfloat16()(f.float()).dtype == torch.float32
    torch.testing.assert_close(up.bfloat16()(f.float()).double(), up(f), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, None),
        (False, None),
        (True, BandLimit()),
        ({"activation": 2}, BandLimit(activation=2)),
        ({"lift": 4, "pool": 1}, BandLimit(lift=4, pool=1)),
        (BandLimit(pool=3), BandLimit(pool=3)),
    ],
)
def test_settings(setting, expected):
    assert BandLimit.of(setting) == expected


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"actvation": 2}, "lift, activation, pool"),
        ("yes", "true, false or a mapping"),
        ({"activation": 0}, r"activation must be a whole number >= 1, got 0"),
        ({"activation": "exact"}, r"activation must be a whole number >= 1, got 'exact'"),
        ({"lift": 2.5}, r"lift must be a whole number >= 1 or 'exact', got 2.5"),
    ],
)
def test_wrong_settings_say_what_is_allowed(setting, message):
    with pytest.raises(ValueError, match=message):
        BandLimit.of(setting)


def test_wrong_use_says_both_numbers():
    group = CyclicProduct(5)
    with pytest.raises(ValueError, match=r"order 3 or more"):
        Interpolate(CyclicProduct(2), 3)
    with pytest.raises(ValueError, match=r"points must be a whole number >= 1, got 0"):
        Project(group, 0)
    with pytest.raises(ValueError, match=r"4 points cannot hold the band of 5 samples"):
        interpolation(5, 4)
    with pytest.raises(ValueError, match=r"4 group entries.*5 expected"):
        shift(torch.zeros(1, 4, 1), group, (0.5,))
    with pytest.raises(ValueError, match=r"2 steps.*1 expected"):
        shift(torch.zeros(1, 5, 1), group, (0.5, 0))
