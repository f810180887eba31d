import pytest
import torch

from t3cen.analysis.color_statistics import BINS, ColorStatistics, sample_pixels
from t3cen.color import hsl_to_rgb


def _images(hue, saturation=0.8, luminance=0.5, count=6, size=12):
    hsl = torch.tensor([hue, saturation, luminance])[:, None, None].expand(count, 3, size, size)
    return hsl_to_rgb(hsl)


def test_means_are_the_colours_that_went_in():
    summary = ColorStatistics(sample_pixels(_images(0.3, 0.6, 0.4), 64)).summary()
    assert summary["hue"]["mean"] == pytest.approx(0.3, abs=1e-4)
    assert summary["hue"]["resultant_length"] == pytest.approx(1, abs=1e-5)
    assert summary["saturation"] == {"mean": pytest.approx(0.6, abs=1e-4), "sd": pytest.approx(0, abs=1e-4)}
    assert summary["luminance"]["mean"] == pytest.approx(0.4, abs=1e-4)


def test_the_mean_of_hues_either_side_of_red_is_red():
    pixels = sample_pixels([*_images(0.95, count=3), *_images(0.05, count=3)], 64)
    mean = ColorStatistics(pixels).summary()["hue"]["mean"]
    assert min(mean, 1 - mean) < 0.01


def test_grey_pixels_have_no_say_in_hue():
    coloured, grey = _images(0.6, 0.5), _images(0.0, 0.0)
    half = torch.cat([coloured, grey], 3)
    statistics = ColorStatistics(sample_pixels(half, 4096))
    assert statistics.summary()["hue"]["mean"] == pytest.approx(0.6, abs=1e-4)
    assert statistics.undefined_hue == pytest.approx(0.5, abs=0.02)
    assert statistics.histogram("hue").argmax().item() == int(0.6 * BINS)


def test_images_of_any_size_count_alike():
    images = [torch.zeros(3, 4, 4), torch.ones(3, 50, 80)]
    assert ColorStatistics(sample_pixels(images, 100)).summary()["luminance"]["mean"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("images", "message"),
    [([], "no images"), ([torch.zeros(1, 4, 4)], r"\(3, H, W\)"), ([torch.full((3, 4, 4), 2.0)], r"\[2, 2\]")],
)
def test_wrong_images_are_named(images, message):
    with pytest.raises(ValueError, match=message):
        sample_pixels(images)
