"""The band-limited scale lifting moves its functions exactly, for every image, size, cover and angle."""

import pytest
import torch

from t3cen.groups import ColorGroup, ScaleGroup
from t3cen.nn import ScaleLifting, band_limited, shift
from t3cen.nn.band_limited.scale import ScaleSeriesLifting


def image(height, width, dtype=torch.float64):
    """Noise, whose every pixel differs from its neighbours."""
    return torch.rand(2, 3, height, width, generator=torch.Generator().manual_seed(0), dtype=dtype)


@pytest.mark.parametrize("cover", ["triangle", "sine", "half_sine"])
@pytest.mark.parametrize(("order", "size"), [(3, (8, 8)), (5, (7, 12)), (4, (9, 5)), (1, (6, 6))])
def test_any_angle_moves_it_exactly(cover, order, size):
    group = ScaleGroup(order)
    lifting = ScaleSeriesLifting(group, cover)
    angles = lifting.encode(image(*size))
    for steps in (0.31, -1.77, 2):
        element = [steps if order > 1 else 0]
        moved = lifting.lift(lifting.act(angles, element))
        torch.testing.assert_close(moved, shift(lifting.lift(angles), group, element), atol=1e-12, rtol=0)


def test_it_is_the_projection_of_the_lifting_where_that_is_finely_sampled():
    smooth = torch.nn.functional.interpolate(image(3, 3), size=(24, 24), mode="bilinear", align_corners=True)
    group = ScaleGroup(5)
    limited, fine = ScaleSeriesLifting(group), band_limited(ScaleLifting(group), 64)
    torch.testing.assert_close(limited(smooth), fine(smooth), atol=2e-3, rtol=0)
    assert (limited(smooth) - ScaleLifting(group)(smooth)).abs().max() > 0.05


def test_a_group_of_colour_with_one_axis_will_do_and_two_samples_will_not():
    lifting = ScaleSeriesLifting(ColorGroup(hue=5))
    assert lifting(image(6, 6, torch.float32)).shape == (2, 5, 3, 6, 6)
    with pytest.raises(ValueError, match="2 samples keep no frequency"):
        ScaleSeriesLifting(ScaleGroup(2))


def test_what_is_read_has_a_gradient():
    rgb = image(5, 6).requires_grad_()
    ScaleSeriesLifting(ScaleGroup(3))(rgb).square().sum().backward()
    assert rgb.grad.isfinite().all()
    assert (rgb.grad != 0).all()
