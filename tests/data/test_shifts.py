"""The conventions of colour shifts, by hand-computed values."""

import pickle

import pytest
import torch

from t3cen.color import rgb_to_hsl
from t3cen.data import shifts
from t3cen.data.randomness import generator
from t3cen.groups import ColorGroup


def pixel(r, g, b):
    return torch.tensor([r, g, b], dtype=torch.float32).reshape(3, 1, 1)


@pytest.mark.parametrize(
    ("mode", "amount", "before", "after"),
    [
        ("clip", -0.5, [0.0, 0.3, 0.5, 0.8, 1.0], [0.0, 0.0, 0.0, 0.3, 0.5]),
        ("clip", 0.5, [0.0, 0.3, 0.8], [0.5, 0.8, 1.0]),
        ("fold", -0.5, [0.0, 0.3, 0.5, 0.8, 1.0], [0.5, 0.2, 0.0, 0.3, 0.5]),
        ("fold", 0.5, [0.0, 0.3, 0.8], [0.5, 0.8, 0.7]),
        ("scale", -0.5, [0.0, 0.3, 1.0], [0.0, 0.15, 0.5]),
        ("scale", 0.5, [0.0, 0.4, 0.8], [0.0, 0.6, 1.0]),
    ],
)
def test_modes(mode, amount, before, after):
    torch.testing.assert_close(shifts.shift_value(torch.tensor(before), amount, mode), torch.tensor(after))


def test_unknown_mode():
    with pytest.raises(ValueError, match="clip, fold, scale, got 'wrap'"):
        shifts.shift_value(torch.zeros(1), 0.1, "wrap")


def test_shift_by_hand():
    torch.testing.assert_close(shifts.shift(pixel(1, 0, 0), hue=1 / 3), pixel(0, 1, 0))
    torch.testing.assert_close(shifts.shift(pixel(1, 0, 0), saturation=-0.5), pixel(0.75, 0.25, 0.25))
    torch.testing.assert_close(shifts.shift(pixel(1, 0, 0), luminance=-0.25), pixel(0.5, 0, 0))
    torch.testing.assert_close(shifts.shift(pixel(0.4, 0.4, 0.4), luminance=0.5), pixel(0.9, 0.9, 0.9))


def test_amounts_per_image_and_per_pixel():
    images = torch.rand(2, 3, 4, 5)
    amounts = torch.tensor([0.1, -0.3]).reshape(2, 1, 1)
    both = shifts.shift(images, luminance=amounts)
    torch.testing.assert_close(both[1], shifts.shift(images[1], luminance=-0.3))
    mask = torch.zeros(4, 5)
    mask[0] = -0.2
    moved = shifts.shift(images[0], saturation=mask)
    torch.testing.assert_close(moved[:, 1:], images[0, :, 1:], atol=1e-5, rtol=0)
    assert (moved[:, 0] - images[0, :, 0]).abs().max() > 0.01


@pytest.mark.parametrize("mode", shifts.MODES)
def test_range_and_input_kept(mode):
    images = torch.rand(4, 3, 8, 8)
    images[0, :, 0, 0], images[0, :, 0, 1] = 0, 1
    copy = images.clone()
    for amount in (-1.0, -0.5, 0.5, 1.0):
        out = shifts.shift(images, 0.3, amount, amount, mode)
        assert out.min() >= 0
        assert out.max() <= 1
    assert torch.equal(images, copy)


def test_fold_is_the_action_of_the_double_cover():
    value = torch.rand(100)
    half_turn = shifts.shift_value(shifts.shift_value(value, 1.0, "fold"), 1.0, "fold")
    torch.testing.assert_close(half_turn, value)


def test_protocols_draw_per_image_from_the_generator_alone():
    image = torch.rand(3, 6, 6)
    for change in (
        shifts.Uniform(hue=(0, 1), saturation=(-0.5, 0.5)),
        shifts.Multiples(hue=(0.25, 0, 3), luminance=(0.25, -1, 1), mode="fold"),
        shifts.Fixed(saturation=-0.5),
    ):
        assert torch.equal(change(image, generator(4)), pickle.loads(pickle.dumps(change))(image, generator(4)))
    uniform = shifts.Uniform(luminance=(-0.4, 0.4))
    assert not torch.equal(uniform(image, generator(4)), uniform(image, generator(5)))


def test_multiples_are_multiples_and_reach_both_ends():
    red = pixel(1, 0, 0)
    change = shifts.Multiples(saturation=(0.125, -7, -1))
    seen = {round(float(1 - rgb_to_hsl(change(red, generator(i)))[1]) / 0.125, 3) for i in range(200)}
    assert seen == {1, 2, 3, 4, 5, 6, 7}


class TestStepJitter:
    images = torch.rand(64, 3, 4, 4) * 0.5 + 0.25

    def test_trivial_group_changes_nothing(self):
        assert shifts.step_jitter(self.images, ColorGroup(), "triangle", generator(0)) is self.images

    def test_within_half_a_step_and_only_in_active_coordinates(self):
        before = rgb_to_hsl(self.images)
        after = rgb_to_hsl(shifts.step_jitter(self.images, ColorGroup(hue=4), "triangle", generator(0)))
        moved = torch.remainder(after[:, 0] - before[:, 0] + 0.5, 1) - 0.5
        defined = before[:, 1] > 0.05
        assert moved[defined].abs().max() <= 1 / 8 + 1e-4
        assert moved[defined].abs().max() > 0.1
        torch.testing.assert_close(after[:, 1:], before[:, 1:], atol=1e-3, rtol=0)
        one_shift_per_image = [float(m[d].std()) for m, d in zip(moved, defined, strict=True) if d.sum() > 1]
        assert max(one_shift_per_image) < 1e-3

    @pytest.mark.parametrize("order", [4, 8])
    def test_luminance_by_half_a_step_of_the_value(self, order):
        before = rgb_to_hsl(self.images)[:, 2]
        after = rgb_to_hsl(shifts.step_jitter(self.images, ColorGroup(luminance=order), "triangle", generator(1)))[:, 2]
        inside = (before > 1 / order + 0.01) & (before < 1 - 1 / order - 0.01)
        assert (after - before)[inside].abs().max() <= 1 / order + 1e-5
        assert (after - before)[inside].abs().max() > 0.8 / order

    @pytest.mark.parametrize("cover", ["triangle", "sine", "half_sine", "sine+half_sine"])
    def test_covers_and_reproducibility(self, cover):
        group = ColorGroup(3, 4, 5)
        first = shifts.step_jitter(self.images, group, cover, generator(2))
        assert torch.equal(first, shifts.step_jitter(self.images, group, cover, generator(2)))
        assert torch.isfinite(first).all()
        assert first.min() >= 0
        assert first.max() <= 1
