"""Light lifting: gains are shifts, by steps and between them; what floor, white and 8 bits break."""

import pytest
import torch

from t3cen.color.srgb import linear_to_srgb, srgb_to_linear
from t3cen.groups import ColorGroup, LightGroup, RGBGroup
from t3cen.models import build
from t3cen.nn import LightLifting, band_limited
from t3cen.testing import equivariance_error, interpolated, network_error

TOLERANCE = {torch.float32: 4e-6, torch.float64: 2e-14}
GAINS = (-0.7, 0.4, -1.1)  # stops of red, green, blue
GROUPS = [RGBGroup(3, 4, 5), RGBGroup(1, 5, 1), LightGroup(3, 4, 5), LightGroup(5, 1, 1)]
groups = pytest.mark.parametrize("group", GROUPS, ids=repr)
dtypes = pytest.mark.parametrize("dtype", list(TOLERANCE))
both = pytest.mark.parametrize("srgb", [True, False])


def images(low=0.3, high=0.7, dtype=torch.float64, size=6):
    """Pictures that gains of a stop leave between floor and white."""
    rng = torch.Generator().manual_seed(0)
    return low + (high - low) * torch.rand(2, 3, size, size, dtype=dtype, generator=rng)


def relit(rgb, gains, srgb):
    factor = 2.0 ** torch.tensor(gains, dtype=rgb.dtype)[:, None, None]
    return linear_to_srgb(srgb_to_linear(rgb) * factor) if srgb else rgb * factor


def pixel(*rgb):
    return torch.tensor(rgb, dtype=torch.float64).view(1, 3, 1, 1)


@groups
@dtypes
def test_lifting_commutes_with_every_element(group, dtype):
    lifting = LightLifting(group)
    angles = lifting.encode(images(0, 1, dtype))
    lifted = lifting.lift(angles)
    assert lifted.shape == (2, group.order, 3, 6, 6)
    for element in group.elements():
        moved = lifting.lift(lifting.act(angles, element))
        torch.testing.assert_close(moved, group.act(lifted, element), atol=TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize("group", [RGBGroup(3, 4, 5), LightGroup(3, 4, 5)], ids=repr)
@dtypes
@both
def test_a_gain_is_one_rotation_for_every_pixel(group, dtype, srgb):
    lifting, rgb = LightLifting(group, srgb=srgb), images(dtype=dtype)
    seen = lifting.encode(relit(rgb, GAINS, srgb))
    moved = lifting.act(lifting.encode(rgb), lifting.steps(GAINS))
    torch.testing.assert_close(seen, moved, atol=TOLERANCE[dtype], rtol=0)
    assert lifting.sheet_changes(lifting.encode(rgb), lifting.steps(GAINS)) == 0
    assert (seen - lifting.encode(rgb)).abs().min() > 1e-2


def test_values_by_hand():
    """Half the range below white is at the middle of the interval; a step of order 4 is half the range."""
    lifted = LightLifting(RGBGroup(4), srgb=False)(pixel(2**-3, 2**-4, 1e-9))[0, :, :, 0, 0]
    torch.testing.assert_close(lifted[:, 0], torch.tensor([0.625, 0.875, 0.375, 0.125], dtype=torch.float64))
    torch.testing.assert_close(lifted[:, 1:], torch.tensor([[0.5, 0.0]] * 4, dtype=torch.float64))
    assert LightLifting(RGBGroup(4), srgb=False).steps((8, 0, 0)) == (2, 0, 0)


def test_exposure_and_illuminant_are_axes_of_their_own():
    lifting = LightLifting(LightGroup(3, 3, 3), srgb=False)
    assert lifting.steps((-1, -1, -1))[1:] == (0, 0)
    assert lifting.steps((1, -2, 1))[0] == 0
    values = lifting(pixel(0.5, 0.25, 0.125))[0, 0, :, 0, 0]
    torch.testing.assert_close(values, torch.tensor([0.75, 0.5625, 0.4375], dtype=torch.float64))
    blackish = lifting(pixel(0.5, 1e-9, 0.5))[0, 0, :, 0, 0]
    torch.testing.assert_close(blackish, torch.tensor([1.75 / 3, 0.9375, 0.9375], dtype=torch.float64))


@groups
@both
def test_images_come_back_and_black_as_the_floor(group, srgb):
    lifting = LightLifting(group, stops=8, srgb=srgb)
    rgb = images(0.05, 1)
    torch.testing.assert_close(lifting.decode(lifting.encode(rgb)), rgb, atol=1e-14, rtol=0)
    black = lifting.decode(lifting.encode(torch.zeros_like(rgb)))
    floor = torch.tensor(2.0**-8, dtype=torch.float64)
    torch.testing.assert_close(black, (linear_to_srgb(floor) if srgb else floor).expand_as(black))
    assert LightLifting(group, stops=12).decode(lifting.encode(rgb)).min() >= 0


@pytest.mark.parametrize("group", [RGBGroup(5, 5, 5), LightGroup(5, 5, 5)], ids=repr)
def test_pixels_cut_off_at_white_and_floor_are_counted(group):
    lifting = LightLifting(group, srgb=False)
    angles = lifting.encode(torch.cat([pixel(0.5, 0.4, 0.3), pixel(0.9, 0.4, 0.3), pixel(0.004, 0.4, 0.3)], -1))
    assert lifting.sheet_changes(angles, (0, 0, 0)) == 0
    assert lifting.sheet_changes(angles, lifting.steps((0.5, 0, 0))) == pytest.approx(1 / 3)
    assert lifting.sheet_changes(angles, lifting.steps((-1, 0, 0))) == pytest.approx(1 / 3)


def test_a_power_of_light_keeps_a_gain_a_shift_and_srgb_nearly():
    """Stored values without decoding: exact for a pure power, off where sRGB has a straight toe."""
    lifting, light = LightLifting(RGBGroup(5, 5, 5), srgb=False), images(0.05, 0.5)
    factor = 2.0 ** torch.tensor(GAINS, dtype=torch.float64)[:, None, None]

    def error(store, gamma):
        moved = lifting.act(lifting.encode(store(light)), lifting.steps([gain / gamma for gain in GAINS]))
        return (lifting.encode(store(light * factor)) - moved).abs().max().item() * 2 * lifting.stops  # in stops

    assert error(lambda x: x ** (1 / 2.2), 2.2) < 1e-13
    assert 0.01 < error(linear_to_srgb, 2.2) < 0.1


@groups
def test_the_series_turns_exactly_between_steps_and_samples_do_not(group):
    lifting = LightLifting(group)
    element = [0.31 if order > 1 else 0 for order in group.orders]

    def error(lifting, dtype):
        angles, actions = lifting.encode(images(0, 1, dtype)), {"act_input": lifting.act, "act_output": interpolated(group)}
        return equivariance_error(lifting.lift, group, angles, elements=[element], **actions).worst

    assert error(band_limited(lifting), torch.float64) < 1e-14
    assert error(band_limited(lifting), torch.float32) < 1e-6
    assert error(lifting, torch.float64) > 5e-3
    assert repr(band_limited(lifting)).startswith("LightSeriesLifting")
    sampled = band_limited(lifting, 8 if group.order < 10 else 4).lift(lifting.encode(images()))
    torch.testing.assert_close(sampled, band_limited(lifting).lift(lifting.encode(images())), atol=0.02, rtol=0)


def trained(axes, band_limit):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = build("resnet18", "h3s3l3", 4, family="t3cen_light", width=16, band_limit=band_limit, light={"axes": axes})
    optimizer = torch.optim.SGD(network.parameters(), 0.005)
    for seed in range(3):
        rgb = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(seed))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network.train()(rgb), torch.arange(4)).backward()
        optimizer.step()
    return network.eval()


@pytest.mark.parametrize("axes", ["channels", "illuminant"])
def test_a_trained_network_is_exact_at_steps_and_small_between_them_also_through_images(axes):
    rgb = images(dtype=torch.float32, size=8)
    limited, discrete = trained(axes, {"activation": 2}), trained(axes, None)
    lifting = limited.lifting
    for network in (limited, discrete):
        assert network_error(network, rgb, elements=[(1, 0, 0), (2, 1, 2)]).worst < 5e-6

    def between(network, element, protocol):
        return network_error(network, rgb, protocol=protocol, elements=[element], act_output=interpolated(network.lifting.group))

    far = (0.31, -1.77, 0.5)
    assert between(limited, far, "angles").worst < 1e-2
    assert between(discrete, far, "angles").worst > 10 * between(limited, far, "angles").worst
    through = between(limited, lifting.steps(GAINS), "image")
    assert max(through.sheet_changes.values()) == 0
    assert through.worst == pytest.approx(between(limited, lifting.steps(GAINS), "angles").worst, rel=1e-2)
    assert through.worst < between(discrete, lifting.steps(GAINS), "image").worst / 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ColorGroup(4),), r"needs an RGBGroup or a LightGroup, got ColorGroup\(hue=4"),
        ((RGBGroup(4), "sine"), "needs the cover 'triangle', .* got 'sine'"),
        ((RGBGroup(4), "triangle", 0), "stops must be a finite number > 0, got 0"),
        ((RGBGroup(4), "triangle", float("inf")), "stops must be a finite number > 0, got inf"),
        ((RGBGroup(4), "triangle", "8"), "stops must be a finite number > 0, got '8'"),
        ((RGBGroup(4), "triangle", 8, 2.2), "srgb must be true or false, got 2.2"),
    ],
)
def test_constructor_explains_itself(arguments, message):
    with pytest.raises(ValueError, match=message):
        LightLifting(*arguments)


def test_wrong_gains_and_options_say_what_is_allowed():
    with pytest.raises(ValueError, match=r"2 gains in \(1, 2\), 3 \(red, green, blue\) expected"):
        LightLifting(RGBGroup(3)).steps((1, 2))
    for light, named in [({"axes": "hsl"}, "axes='hsl'"), ({"range": 8}, "range")]:
        with pytest.raises(ValueError, match=rf"light takes axes \(channels or illuminant\), stops and srgb, got {named}"):
            build("resnet18", "h3", 4, family="t3cen_light", width=8, light=light)
    with pytest.raises(ValueError, match="light is an option of t3cen_light; the family 'plain' has no use for it"):
        build("resnet18", "", 4, family="plain", width=8, light={"stops": 8})
