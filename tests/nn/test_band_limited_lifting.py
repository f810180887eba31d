"""Band-limited liftings: the lowest frequencies of the discrete ones, turned by every angle; sampled, and by series."""

import pytest
import torch

from t3cen.groups import ColorGroup, ScaleGroup
from t3cen.nn import BandLimitedLifting, HSLLifting, Project, RGBLifting, ScaleLifting, band_limited
from t3cen.testing import equivariance_error, interpolated

COVERS = ["triangle", "sine", "half_sine"]
LIFTINGS = [
    *(HSLLifting(ColorGroup.parse(g), cover) for g in ("h5", "s5", "l4", "h3s3") for cover in COVERS),
    HSLLifting(ColorGroup(3, 3, 3)),
    HSLLifting(ColorGroup(3, 1, 3), color_space="hsv"),
    HSLLifting(ColorGroup(1, 3, 5), "sine+half_sine"),
    *(RGBLifting(ColorGroup(5, 3, 1), cover) for cover in COVERS),
]
IDS = [f"{type(lifting).__name__}-{'x'.join(map(str, lifting.group.orders))}-{lifting.cover}" for lifting in LIFTINGS]


def images(size=6, dtype=torch.float64):
    return torch.rand(2, 3, size, size, dtype=dtype, generator=torch.Generator().manual_seed(0))


def between(group):
    """An element between the steps on every axis there is."""
    return [0.31 if order > 1 else 0 for order in group.orders]


def error(lifting, dtype=torch.float64):
    angles = lifting.encode(images(dtype=dtype))
    action = interpolated(lifting.group)
    elements = [between(lifting.group)]
    return equivariance_error(
        lifting.lift, lifting.group, angles, act_input=lifting.act, act_output=action, elements=elements
    ).worst


@pytest.mark.parametrize("lifting", LIFTINGS, ids=IDS)
def test_series_turn_exactly_and_discrete_liftings_do_not(lifting):
    assert error(band_limited(lifting)) < 1e-14
    assert error(band_limited(lifting), torch.float32) < 1e-6
    if lifting.cover != "sine":  # the sine cover's saturation is one frequency, and band-limited as it is
        assert error(lifting) > 5e-3


@pytest.mark.parametrize("lifting", LIFTINGS, ids=IDS)
def test_samples_approach_the_series(lifting):
    angles, series = lifting.encode(images(3)), band_limited(lifting)
    points = (2, 8) if lifting.group.order > 9 else (4, 16)
    distance = [(band_limited(lifting, p).lift(angles) - series.lift(angles)).abs().max().item() for p in points]
    assert distance[1] < distance[0] / 4 + 1e-6
    assert distance[1] < 0.02


@pytest.mark.parametrize("lifting", [*LIFTINGS[:4], ScaleLifting(ScaleGroup(5))], ids=[*IDS[:4], "ScaleLifting"])
def test_sampled_liftings_stay_in_the_band_and_their_error_falls_with_the_points(lifting):
    made = band_limited(lifting, 4)
    lifted = made(images())
    assert isinstance(made, BandLimitedLifting)
    torch.testing.assert_close(Project(lifting.group, 1)(lifted), lifted, rtol=0, atol=1e-13)
    errors = [error(band_limited(lifting, points)) for points in (1, 4, 16)]
    assert errors[0] > 4 * errors[1]
    assert errors[1] > 2 * errors[2]


@pytest.mark.parametrize("points", ["exact", 3])
def test_whole_steps_permute_and_trivial_axes_are_left_alone(points):
    lifting = band_limited(HSLLifting(ColorGroup(hue=5, luminance=4)), points)
    angles = lifting.encode(images())
    for element in [(1, 0, 0), (0, 0, 3), (4, 0, 1)]:
        moved = lifting.lift(lifting.act(angles, element))
        torch.testing.assert_close(moved, lifting.group.act(lifting.lift(angles), element), rtol=0, atol=1e-12)
    whole = band_limited(HSLLifting(ColorGroup()), points)
    torch.testing.assert_close(whole(images())[:, 0], images())


def test_everything_but_the_lift_is_the_discrete_liftings():
    for lifting in (HSLLifting(ColorGroup(5), "sine"), RGBLifting(ColorGroup(5)), ScaleLifting(ScaleGroup(5))):
        for made in [BandLimitedLifting(lifting), *([] if isinstance(lifting, ScaleLifting) else [band_limited(lifting)])]:
            angles = made.encode(images())
            assert torch.equal(angles, lifting.encode(images()))
            element = between(made.group)
            assert torch.equal(made.act(angles, element), lifting.act(angles, element))
            assert torch.equal(made.decode(angles), lifting.decode(angles))
            assert made.sheet_changes(angles, element) == lifting.sheet_changes(angles, element)
            assert made.hue_losses(angles, element) == lifting.hue_losses(angles, element)
            assert not made.state_dict()
            with pytest.raises(ValueError, match=r"RGB values must lie in \[0, 1\]"):
                made(2 * images() + 1)


@pytest.mark.parametrize("points", ["exact", 2])
def test_gradients_reach_the_image(points):
    rgb = images(3).requires_grad_()
    for lifting in (HSLLifting(ColorGroup(3, 3), "sine"), RGBLifting(ColorGroup(3), "half_sine")):
        (gradient,) = torch.autograd.grad(band_limited(lifting, points)(rgb).square().sum(), rgb)
        assert torch.isfinite(gradient).all()
        assert gradient.abs().sum() > 0


def test_wrong_use_says_what_is_allowed():
    with pytest.raises(ValueError, match=r"ScaleLifting has no Fourier series.*such as 4"):
        band_limited(ScaleLifting(ScaleGroup(5)))
    with pytest.raises(ValueError, match="order 3 or more"):
        band_limited(HSLLifting(ColorGroup(2)))
    with pytest.raises(ValueError, match="order 3 or more"):
        band_limited(RGBLifting(ColorGroup(2)), 4)
    for points in (0, 2.5, "many"):
        with pytest.raises(ValueError, match=f"points must be a whole number >= 1, got {points!r}"):
            band_limited(HSLLifting(ColorGroup(5)), points)
