import pytest
import torch

from t3cen.analysis import distinct_values, orbit_values, redundancy_shares, redundant_values
from t3cen.color import hsl_to_rgb
from t3cen.covers import COVERS


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 8])
def test_the_triangle_cover_is_redundant_at_multiples_of_one_over_n(order):
    assert redundant_values(order).tolist() == pytest.approx([k / order for k in range(order + 1)])


@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.parametrize("order", [3, 4, 5, 6])
def test_exactly_the_redundant_values_repeat(cover, order):
    redundant = redundant_values(order, cover)
    assert (distinct_values(orbit_values(redundant, order, cover)) < order).all()
    between = (redundant[1:] + redundant[:-1]) / 2
    assert (distinct_values(orbit_values(between, order, cover)) == order).all()


def test_useful_representations_at_even_orders():
    """N/2 + 1 at even k, N/2 at odd k: the input called partially redundant repeats more than the one called fully redundant."""
    assert distinct_values(orbit_values(redundant_values(4), 4)).tolist() == [3, 2, 3, 2, 3]


def test_shares_count_8_bit_levels():
    luminance = torch.tensor([127, 128, 127.5, 126, 64, 63, 191, 192, 0, 255]) / 255
    hsl = torch.stack([torch.zeros(10), torch.zeros(10), luminance])[None, :, None]
    shares = redundancy_shares([hsl_to_rgb(hsl)])
    assert shares["luminance"] == {"full": pytest.approx(0.3), "partial": pytest.approx(0.2)}
    assert shares["saturation"] == {"full": 0, "partial": 0}
    assert shares["mean"]["full"] == pytest.approx(0.15)


def test_shares_do_not_depend_on_the_batches():
    rgb = torch.rand(6, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    assert redundancy_shares([rgb]) == redundancy_shares(rgb.split(4))


def test_a_wider_tolerance_counts_more():
    rgb = torch.rand(4, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    narrow, wide = redundancy_shares([rgb]), redundancy_shares([rgb], tolerance=0.05)
    assert wide["luminance"]["full"] > narrow["luminance"]["full"]


def test_no_images_is_an_error():
    with pytest.raises(ValueError, match="no images"):
        redundancy_shares([])
