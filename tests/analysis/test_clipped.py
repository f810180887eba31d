import pytest
import torch

from t3cen.analysis.clipped import ClippedLifting
from t3cen.groups import RGBGroup, ScaleGroup
from t3cen.nn import RGBLifting, ScaleLifting


def test_red_moves_along_the_line_and_stops_at_its_ends():
    lifting = ClippedLifting(RGBLifting(RGBGroup(red=3)))
    rgb = torch.tensor([0.7, 0.2, 0.4])[None, :, None, None]
    lifted = lifting(rgb)[0, :, :, 0, 0]
    torch.testing.assert_close(lifted, torch.tensor([[0.2, 0.2, 0.4], [0.7, 0.2, 0.4], [1.0, 0.2, 0.4]]))


def test_the_middle_element_of_scale_is_the_image():
    rgb = torch.rand(1, 3, 6, 6, generator=torch.Generator().manual_seed(0))
    lifting = ClippedLifting(ScaleLifting(ScaleGroup(3)), first=3)
    torch.testing.assert_close(lifting(rgb)[:, 1], rgb)
    # half an image to the right and down, the last row and column repeated
    torch.testing.assert_close(lifting(rgb)[0, 2, :, 0, 0], rgb[0, :, 3, 3])
    torch.testing.assert_close(lifting(rgb)[0, 2, :, 5, 5], rgb[0, :, 5, 5])


def test_even_orders_are_refused():
    with pytest.raises(ValueError, match="odd orders only"):
        ClippedLifting(RGBLifting(RGBGroup(red=4)))
