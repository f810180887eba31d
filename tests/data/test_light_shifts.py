"""Test sets under other light: gains of linear light, radiators, a whole camera; added to any data set by data.light."""

import math

import pytest
import torch

from t3cen.augment import GainJitter
from t3cen.color.planckian import planckian_gains, planckian_xy
from t3cen.color.srgb import linear_to_srgb, srgb_to_linear
from t3cen.data.light_shifts import Camera, Exposure, Gains, Planckian, light_shifts, relight
from t3cen.data.pictures import previews
from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.training.run import make_data


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def image(low=0.0, high=1.0):
    return low + (high - low) * torch.rand(3, 8, 8, generator=rng(5))


def ratios(before, after):
    """`(3,)` gains of linear light in stops, each the same for all pixels of a channel."""
    stops = torch.log2(srgb_to_linear(after.double()) / srgb_to_linear(before.double()))
    assert stops.flatten(1).std(1).max() < 1e-4
    return stops.mean((1, 2))


@pytest.mark.parametrize("change", light_shifts().values(), ids=light_shifts())
def test_images_stay_images_and_follow_the_generator(change):
    before = image()
    kept = before.clone()
    made = change(before, rng(1))
    assert made.dtype == torch.float32
    assert made.shape == before.shape
    assert 0 <= made.min() <= made.max() <= 1
    assert torch.equal(before, kept)
    assert torch.equal(made, change(before, rng(1)))
    assert not torch.equal(made, change(before, rng(2)))


def test_gains_darken_each_channel_by_its_own_uniform_number_of_stops():
    drawn = torch.stack([ratios(image(0.2), Gains(2)(image(0.2), rng(seed))) for seed in range(100)])
    assert -2 <= drawn.min() < -1.9
    assert -0.1 < drawn.max() <= 1e-6
    assert drawn.mean().item() == pytest.approx(-1, abs=0.1)
    assert (drawn[:, 0] - drawn[:, 1]).abs().min() > 1e-4


def test_exposure_is_one_gain_and_is_cut_off_at_white():
    for seed in range(20):
        gains = ratios(image(0.2), Exposure(-2, 0)(image(0.2), rng(seed)))
        assert gains.std() < 1e-5
        assert -2 <= gains.mean() <= 1e-6
    brightest = torch.stack([Exposure(-2, 2)(image(0.6), rng(seed)) for seed in range(20)])
    assert brightest.max().item() == pytest.approx(1, abs=1e-6)
    assert relight(torch.full((3, 1, 1), 0.2), 4).max() < 1


def test_planckian_keeps_the_brightest_channel_and_turns_red_when_cold():
    cold, hot = (ratios(image(0.2), Planckian((k, k))(image(0.2), rng())) for k in (2500.0, 10000.0))
    assert cold[0].abs() < 1e-5
    assert cold[2] < cold[1] < -1
    assert hot[2].abs() < 1e-5
    assert hot[0] < hot[1] < 0


@pytest.mark.parametrize(
    ("kelvin", "xy"), [(2856, (0.4476, 0.4074)), (4000, (0.3805, 0.3768)), (6500, (0.3135, 0.3237)), (10000, (0.2807, 0.2884))]
)
def test_the_locus_is_the_published_one(kelvin, xy):
    """Of CIE 015: illuminant A is the radiator of 2,856 K."""
    assert planckian_xy(kelvin) == pytest.approx(xy, abs=6e-4)
    gains = planckian_gains(kelvin)
    assert gains.max() == 1
    assert gains.min() > 0


def test_temperatures_outside_the_formula_are_refused():
    for kelvin in (2000, 30000, math.nan):
        with pytest.raises(ValueError, match=r"must lie in \[2222, 25000\] kelvin, got"):
            planckian_gains(kelvin)


def test_srgb_by_hand_and_back():
    stored = torch.tensor([0.0, 0.02, 0.04045, 0.5, 1.0], dtype=torch.float64)
    light = torch.tensor([0, 0.02 / 12.92, 0.0031308, 0.21404114, 1.0], dtype=torch.float64)
    torch.testing.assert_close(srgb_to_linear(stored), light, rtol=0, atol=1e-7)
    torch.testing.assert_close(linear_to_srgb(srgb_to_linear(stored)), stored, rtol=0, atol=1e-7)
    dark = torch.zeros(3, requires_grad=True)
    for curve in (srgb_to_linear, linear_to_srgb):
        (gradient,) = torch.autograd.grad(curve(dark).sum(), dark)
        assert gradient.isfinite().all()


def test_a_camera_mixes_scatters_and_rounds():
    quiet = {"kelvin": (6500.0, 6500.0), "stops": (0.0, 0.0), "full_well": math.inf, "read_noise": 0.0, "gamma": (2.2, 2.2)}
    grey = torch.full((3, 16, 16), 0.5)
    plain = Camera(**quiet, crosstalk=0.0)(grey, rng())
    levels = plain * 255
    torch.testing.assert_close(levels, levels.round(), rtol=0, atol=1e-4)
    expected = (srgb_to_linear(grey) * planckian_gains(6500)[:, None, None]) ** (1 / 2.2)
    torch.testing.assert_close(plain, expected, rtol=0, atol=0.5 / 255 + 1e-6)
    red = torch.zeros(3, 4, 4)
    red[0] = 0.8
    assert Camera(**quiet, crosstalk=0.0)(red, rng())[1:].max() == 0
    assert Camera(**quiet)(red, rng())[1:].min() > 0
    noisy = Camera(**{**quiet, "read_noise": 0.01}, crosstalk=0.0)(grey, rng()) - plain
    assert 0.002 < noisy.std() < 0.03
    stops = [torch.log2(Camera(**{**quiet, "stops": (s, s)}, crosstalk=0.0)(grey, rng()).max() ** 2.2) for s in (-2.0, -1.0)]
    assert (stops[1] - stops[0]).item() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("name", sorted(previews()))
def test_every_data_set_takes_them(name, fakes):
    made, own = previews()[name]
    small = {"train_size": 8, "test_size": 4} | ({"image_size": 32} if "files" in made.sized_sources else {})
    data = made(root=fakes, **{**small, **own})
    first = data.test_names[0]
    data.add_tests(light_shifts())
    picture, label = data.splits.test[first][1]
    darker, same = data.splits.test["gains_3"][1]
    assert same == label
    assert (darker <= picture + 1e-6).all()
    assert darker.sum() < picture.sum()


def test_the_switch_adds_them_and_leaves_every_other_configuration_alone():
    config = compose(all_runs()["shapes3d_light_light"], "smoke")
    data = make_data(config)
    assert data.test_names[-len(light_shifts()) :] == tuple(light_shifts())
    off = {**config, "data": {**config["data"], "light": False}}
    assert make_data(off).test_names == data.test_names[: -len(light_shifts())]
    for name in ("shapes3d_between_luminance_l5_continuous", "camelyon_s4"):
        other = compose(all_runs()[name], "laptop")
        assert "light" not in other["data"]
        assert "light" not in other["model"]


def test_gain_jitter_is_the_test_sets_change():
    picture = torch.randint(0, 256, (3, 4, 4), dtype=torch.uint8, generator=rng())
    torch.testing.assert_close(GainJitter(2.0)(picture, rng(1)), Gains(2.0)(picture.float() / 255, rng(1)))
    for stops in (0, -1, math.inf):
        with pytest.raises(ValueError, match="stops must be a finite number > 0, got"):
            GainJitter(stops)
