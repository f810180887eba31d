"""RGB lifting: each channel moves along its own cover."""

import pytest
import torch

from t3cen.groups import ColorGroup, RGBGroup, ScaleGroup
from t3cen.nn import RGBLifting


def pixel(*rgb):
    return torch.tensor(rgb, dtype=torch.float64).view(1, 3, 1, 1)


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_one_channel_moves_and_the_others_stay(channel):
    orders = [1, 1, 1]
    orders[channel] = 4
    color = [0.1, 0.6, 0.4]
    color[channel] = 0.3
    lifted = RGBLifting(RGBGroup(*orders))(pixel(*color))[0, :, :, 0, 0]
    expected = torch.tensor([color] * 4, dtype=torch.float64)
    expected[:, channel] = torch.tensor([0.3, 0.8, 0.7, 0.2])
    torch.testing.assert_close(lifted, expected)


def test_elements_are_row_major():
    lifted = RGBLifting(RGBGroup(2, 1, 4))(pixel(0.2, 0.6, 0.3))[0, :, :, 0, 0]
    torch.testing.assert_close(lifted[:, 0], torch.tensor([0.2] * 4 + [0.8] * 4, dtype=torch.float64))
    torch.testing.assert_close(lifted[:, 2], torch.tensor([0.3, 0.8, 0.7, 0.2] * 2, dtype=torch.float64))


def test_the_orders_of_a_colour_group_are_taken_for_red_green_blue():
    rgb = torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    lifting = RGBLifting(ColorGroup(2, 3, 4))
    assert torch.equal(lifting(rgb), RGBLifting(RGBGroup(2, 3, 4))(rgb))
    assert lifting.group == ColorGroup(2, 3, 4)


def test_sheets_count_any_channel_and_no_hue_is_needed():
    lifting = RGBLifting(RGBGroup(4, 4, 4))
    angles = lifting.encode(torch.cat([pixel(0.1, 0.1, 0.1), pixel(0.9, 0.1, 0.1), pixel(0.9, 0.9, 0.9)], -1))
    assert lifting.sheet_changes(angles, (1, 0, 0)) == pytest.approx(2 / 3)
    assert lifting.sheet_changes(angles, (0, 1, 0)) == pytest.approx(1 / 3)
    assert lifting.sheet_changes(angles, (1, 1, 1)) == pytest.approx(2 / 3)
    assert lifting.hue_losses(angles, (1, 1, 1)) == 0


def test_needs_three_factors():
    with pytest.raises(ValueError, match="RGBLifting needs a group of three factors, got 1"):
        RGBLifting(ScaleGroup(4))
