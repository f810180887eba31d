import torch

from t3cen.analysis.restoration import lifting_error
from t3cen.groups import ColorGroup
from t3cen.nn import HSLLifting, LCERLifting


def _images():
    return torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0)).mul(255).round() / 255


def test_t3cen_loses_nothing_and_lcer_several_levels():
    group = ColorGroup(saturation=5)
    assert lifting_error(HSLLifting(group), _images()).error < 1e-4
    assert 1 < lifting_error(LCERLifting(group, mode="pil8"), _images()).error < 60
    assert 1 < lifting_error(LCERLifting(group), _images()).error < 60


def test_luminance_and_every_order():
    for order in (2, 3, 4, 7):
        group = ColorGroup(luminance=order)
        result = lifting_error(HSLLifting(group), _images(), axis=2)
        assert result.error < 1e-4
        assert (result.shifted - _images()).abs().mean() > 0.05


def test_a_stored_image_forgets_the_sheet():
    group = ColorGroup(saturation=4)
    assert lifting_error(HSLLifting(group), _images(), through_image=True).error > 1


def test_a_shift_that_clips_nothing_costs_lcer_nothing():
    rgb = torch.tensor([0.9, 0.5, 0.1])[None, :, None, None].expand(1, 3, 2, 2)  # saturation 0.8
    assert lifting_error(LCERLifting(ColorGroup(saturation=5)), rgb, 0.5).error < 1e-4
