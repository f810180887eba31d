import pytest
import torch

from t3cen.analysis.color_statistics import ColorStatistics, sample_pixels
from t3cen.analysis.movement import left_over, movements, spreads
from t3cen.color import hsl_to_rgb


def _statistics(hue=(0.1, 0.3), saturation=(0.3, 0.4), luminance=(0.3, 0.4), count=20, seed=0):
    rng = torch.Generator().manual_seed(seed)
    bounds = torch.tensor([hue, saturation, luminance])[..., None]
    hsl = bounds[:, 0] + (bounds[:, 1] - bounds[:, 0]) * torch.rand(count, 3, 256, generator=rng)
    return ColorStatistics(sample_pixels(hsl_to_rgb(hsl[:, :, None]), 256))


def test_only_what_moved_has_moved():
    moves = movements(_statistics(), _statistics(saturation=(0.55, 0.65), seed=1))
    assert moves["saturation"].distance == pytest.approx(0.25, abs=0.02)
    assert moves["saturation"].stands_out(0.02)
    assert not moves["hue"].stands_out(0.02)
    assert not moves["luminance"].stands_out(0.02)


def test_hue_moves_the_short_way_round():
    moves = movements(_statistics(hue=(0.9, 0.95)), _statistics(hue=(0.0, 0.05), seed=1))
    assert moves["hue"].distance == pytest.approx(0.1, abs=0.01)
    assert moves["hue"].share == pytest.approx(0.2, abs=0.02)


def test_grey_images_have_no_hue_or_saturation_to_move():
    moves = movements(_statistics(saturation=(0, 0)), _statistics(saturation=(0, 0), luminance=(0.6, 0.7), seed=1))
    assert moves["hue"].distance == moves["saturation"].distance == 0
    assert moves["luminance"].distance == pytest.approx(0.3, abs=0.02)


def test_whole_steps_leave_nothing_over():
    train, moved = _statistics(), _statistics(saturation=(0.8, 0.9), seed=1)
    for order, rest in ((4, 0.0), (8, 0.0), (3, 0.17)):
        over = left_over("saturation", order, train.histogram("saturation"), moved.histogram("saturation"))
        assert over == pytest.approx(rest, abs=0.02)
    narrow, turned = _statistics(hue=(0.1, 0.11)), _statistics(hue=(0.1 + 1 / 3, 0.11 + 1 / 3), seed=1)
    for order, rest in ((3, 0.0), (4, 1 / 12), (6, 0.0), (7, 1 / 21)):
        assert left_over("hue", order, narrow.histogram("hue"), turned.histogram("hue")) == pytest.approx(rest, abs=0.01)


def test_spread_between_images_without_a_second_set():
    one_hue_each = [hsl_to_rgb(torch.tensor([h / 10, 0.8, 0.5])[:, None, None].expand(3, 4, 4)) for h in range(10)]
    found = spreads(ColorStatistics(sample_pixels(one_hue_each, 32)))
    assert found["hue"].distance > 0.1
    assert found["saturation"].distance < 0.01
