"""Scale lifting: pixel coordinates move along their cover; where that is an exact movement of pixels, and where not."""

import pytest
import torch

from t3cen.groups import ColorGroup, ScaleGroup
from t3cen.nn import ScaleLifting


def images(height=8, width=12, dtype=torch.float64, seed=0):
    return torch.rand(2, 3, height, width, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def test_a_step_of_order_four_reads_the_far_half_there_and_back():
    ramp = torch.arange(4, dtype=torch.float64).expand(1, 3, 4, 4) / 4  # value = column / 4
    lifted = ScaleLifting(ScaleGroup(4))(ramp)[0, :, 0, 0] * 4
    torch.testing.assert_close(
        lifted, torch.tensor([[0, 1, 2, 3], [2, 3, 3, 2], [3, 2, 1, 0], [1, 0, 0, 1]], dtype=torch.float64)
    )


def test_both_coordinates_move_together():
    rgb = images()
    lifted = ScaleLifting(ScaleGroup(4))(rgb)
    torch.testing.assert_close(lifted[:, 2], rgb.flip(-1, -2))
    torch.testing.assert_close(lifted[:, 1, :, :4, :6], rgb[..., 4:, 6:])


@pytest.mark.parametrize("order", [2, 3, 4, 8])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_where_steps_land_on_pixels_every_pixel_is_one_of_the_image(order, dtype):
    size = 12 if order == 3 else 16
    values = torch.arange(size * size, dtype=dtype).view(1, 1, size, size).expand(1, 3, size, size) / size**2
    lifting = ScaleLifting(ScaleGroup(order))
    lifted = lifting(values) * size**2
    torch.testing.assert_close(lifted, lifted.round(), atol=1e-2, rtol=0)
    angles = lifting.encode(values)
    for element in lifting.group.elements():  # the same pixels are read on both sides, to the last bit
        assert torch.equal(lifting.lift(lifting.act(angles, element)), lifting.group.act(lifting.lift(angles), element))


def test_through_an_image_half_a_turn_is_exact_for_every_image():
    lifting = ScaleLifting(ScaleGroup(4))
    angles = lifting.encode(images())
    through_image = lifting(lifting.decode(lifting.act(angles, (2,))))
    torch.testing.assert_close(through_image, lifting.group.act(lifting.lift(angles), (2,)))


@pytest.mark.parametrize("step", [1, 3])
def test_through_an_image_a_quarter_turn_is_exact_for_mirror_images_and_no_others(step):
    lifting = ScaleLifting(ScaleGroup(4))
    half = images()
    quarter = torch.cat([half, half.flip(-1)], -1)
    mirrored = torch.cat([quarter, quarter.flip(-2)], -2)
    for rgb, exact in ((mirrored, True), (images(16, 24), False)):
        angles = lifting.encode(rgb)
        through_image = lifting(lifting.decode(lifting.act(angles, (step,))))
        assert torch.allclose(through_image, lifting.group.act(lifting.lift(angles), (step,))) is exact


def test_sheets_count_pixels_with_a_coordinate_past_an_end():
    lifting = ScaleLifting(ScaleGroup(4))
    angles = lifting.encode(images(8, 8))
    assert lifting.sheet_changes(angles, (0,)) == 0
    assert lifting.sheet_changes(angles, (1,)) == 0.75
    assert lifting.sheet_changes(angles, (2,)) == 1


@pytest.mark.parametrize("group", [ScaleGroup(4), ColorGroup(hue=4), ColorGroup(saturation=4), ColorGroup(luminance=4)])
def test_any_group_with_one_axis_will_do(group):
    rgb = images()
    lifting = ScaleLifting(group)
    assert torch.equal(lifting(rgb), ScaleLifting(ScaleGroup(4))(rgb))
    angles = lifting.encode(rgb)
    for element in group.elements():
        torch.testing.assert_close(lifting.lift(lifting.act(angles, element)), group.act(lifting.lift(angles), element))


def test_two_axes_are_refused():
    with pytest.raises(ValueError, match=r"at most one order may differ from 1, got \(2, 3, 1\)"):
        ScaleLifting(ColorGroup(2, 3))
