"""Crops and flips: sizes, places, and what is random."""

import pytest
import torch

from t3cen.data.randomness import generator
from t3cen.data.transforms import Flip, PadCropFlip, ResizeCenter, ResizedCropFlip, resize

PICTURE = torch.arange(3 * 10 * 12, dtype=torch.int64).remainder(251).to(torch.uint8).reshape(3, 10, 12)


def test_flip_is_a_mirror_every_other_time():
    seen = [Flip()(PICTURE, generator(i)) for i in range(100)]
    mirrored = sum(torch.equal(picture, PICTURE.flip(-1)) for picture in seen)
    assert sum(torch.equal(picture, PICTURE) for picture in seen) + mirrored == 100
    assert 30 < mirrored < 70


def test_pad_crop_is_a_shift_by_at_most_the_padding_with_black_beyond():
    padded = torch.nn.functional.pad(PICTURE, [2] * 4)
    places = {(top, left): padded[:, top : top + 10, left : left + 12] for top in range(5) for left in range(5)}
    found = set()
    for i in range(300):
        out = PadCropFlip(2)(PICTURE, generator(i))
        assert out.shape == PICTURE.shape
        assert out.dtype == torch.uint8
        found |= {place for place, crop in places.items() if torch.equal(out, crop) or torch.equal(out, crop.flip(-1))}
    assert found == set(places)


@pytest.mark.parametrize("shape", [(40, 60), (60, 40), (4, 100), (100, 4), (7, 7)])
def test_resized_crop(shape):
    crop = ResizedCropFlip(16)
    picture = torch.randint(0, 256, (3, *shape), dtype=torch.uint8)
    areas = []
    for i in range(60):
        rng = generator(i)
        top, left, height, width = crop._place(*shape, rng)
        assert 0 <= top <= shape[0] - height
        assert 0 <= left <= shape[1] - width
        assert min(height, width) > 0
        areas.append(height * width / (shape[0] * shape[1]))
        assert crop(picture, generator(i)).shape == (3, 16, 16)
    if min(shape) >= 40:
        assert min(areas) < 0.25
        assert max(areas) > 0.7


@pytest.mark.parametrize("shape", [(300, 400), (400, 300), (30, 50), (256, 256), (10, 200)])
def test_resize_center_is_fixed_and_square(shape):
    picture = torch.randint(0, 256, (3, *shape), dtype=torch.uint8)
    view = ResizeCenter(64, 56)
    assert view(picture).shape == (3, 56, 56)
    assert torch.equal(view(picture), view(picture))


def test_resize_keeps_a_constant_and_equal_sizes():
    constant = torch.full((3, 9, 13), 77, dtype=torch.uint8)
    assert (resize(constant, 20, 5) == 77).all()
    assert resize(PICTURE, 10, 12) is PICTURE
