"""ColorShift: the test sets' own shifts, as an augmentation."""

import pytest
import torch

from t3cen.augment import ColorShift
from t3cen.color import rgb_to_hsl
from t3cen.data.shifts import shift


def picture():
    return torch.randint(64, 192, (3, 5, 5), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def test_moves_one_coordinate_by_one_amount_within_the_range():
    before = rgb_to_hsl(picture().float() / 255)
    amounts = []
    for seed in range(8):
        after = rgb_to_hsl(ColorShift(luminance=(-0.1, 0.2))(picture(), torch.Generator().manual_seed(seed)))
        moved = (after - before)[2]
        torch.testing.assert_close(moved, moved[0, 0].expand_as(moved), rtol=0, atol=1e-5)
        torch.testing.assert_close(after[0], before[0], rtol=0, atol=1e-4)
        amounts.append(moved[0, 0].item())
    assert -0.1 <= min(amounts) < 0 < max(amounts) <= 0.2


@pytest.mark.parametrize("mode", ["clip", "fold", "scale"])
def test_turns_back_or_is_cut_off_at_the_ends_as_asked(mode):
    moved = ColorShift(luminance=(0.6, 0.6), mode=mode)(picture(), torch.Generator())
    torch.testing.assert_close(moved, shift(picture().float() / 255, luminance=0.6, mode=mode))


def test_is_random_by_its_generator_alone():
    first, again, other = (ColorShift(hue=(-0.5, 0.5))(picture(), torch.Generator().manual_seed(s)) for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "does nothing"),
        ({"hue": (0.5, -0.5)}, "hue must be two numbers"),
        ({"saturation": (0.1,)}, "saturation must be two"),
        ({"saturation": (0.1, 0.2), "mode": "bogus"}, "one of clip, fold, scale, got 'bogus'"),
    ],
)
def test_wrong_ranges_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ColorShift(**arguments)
