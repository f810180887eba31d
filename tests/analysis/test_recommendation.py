"""The four cases the tool must get right, in miniature: what moves is recommended, and colour as the label is warned of."""

import pytest
import torch

from t3cen.analysis import recommend
from t3cen.analysis.candidates import examine
from t3cen.analysis.color_statistics import ColorStatistics, sample_pixels
from t3cen.analysis.movement import movements
from t3cen.color import hsl_to_rgb
from t3cen.data.shifts import shift

GROUPS = ("h3", "h4", "s4", "s8", "l4", "l8", "s4l4")


def _images(count=24, hue=(0.0, 0.33), saturation=(0.3, 0.45), luminance=(0.3, 0.45), seed=0):
    """Textured patches, each with a colour of its own."""
    rng = torch.Generator().manual_seed(seed)
    bounds = torch.tensor([hue, saturation, luminance])[..., None]
    own = bounds[:, 0] + (bounds[:, 1] - bounds[:, 0]) * torch.rand(count, 3, 1, generator=rng)
    hsl = own + 0.04 * (torch.rand(count, 3, 100, generator=rng) - 0.5)
    return hsl_to_rgb(torch.cat([hsl[:, :1], hsl[:, 1:].clamp(0, 1)], 1).reshape(count, 3, 10, 10))


def _recommend(*images, **options):
    return recommend(*images, groups=GROUPS, pixels=128, **options)


@pytest.mark.parametrize(("moved", "letter"), [({"hue": 0.3}, "h"), ({"saturation": 0.4}, "s"), ({"luminance": 0.4}, "l")])
def test_the_axis_that_moves_is_recommended(moved, letter):
    found = _recommend(_images(), shift(_images(seed=1), **moved))
    assert found.group[0] == letter
    assert not found.color_is_signal
    assert found.as_dict()["group"] == found.group


def test_a_shift_of_a_whole_step_gets_the_order_with_that_step():
    half = _recommend(_images(), shift(_images(seed=1), saturation=0.5))
    assert half.group == "s4"
    quarter = _recommend(_images(), shift(_images(seed=1), saturation=0.25))
    assert quarter.group == "s8"


def test_no_move_means_a_plain_network():
    found = _recommend(_images(40), _images(40, seed=1))
    assert found.group == "h1"
    assert "cost capacity" in found.reasons[-1]


def test_colour_as_the_label_is_warned_of():
    """Ripe and unripe: the hue is the class, also where the network will be used."""
    train = torch.cat([_images(15, hue=(0.0, 0.04)), _images(15, hue=(0.28, 0.33), seed=1)])
    there = torch.cat([_images(15, hue=(0.03, 0.09), seed=2), _images(15, hue=(0.32, 0.38), seed=3)])
    labels = [0] * 15 + [1] * 15
    for known in (None, labels):
        found = _recommend(train, shift(there, luminance=0.01), labels=labels, deployment_labels=known)
        assert found.color_is_signal
        assert found.group == "h1"
        assert "Colour looks like the signal" in found.warnings[0]
    alone = _recommend(train, labels=labels)
    assert alone.moves_between_images
    assert alone.color_is_signal


def test_a_shortcut_that_deployment_breaks_is_no_signal():
    train = torch.cat([_images(15, hue=(0.0, 0.04)), _images(15, hue=(0.28, 0.33), seed=1)])
    there = torch.cat([_images(15, hue=(0.5, 0.55), seed=2), _images(15, hue=(0.5, 0.55), seed=3)])
    labels = [0] * 15 + [1] * 15
    found = _recommend(train, there, labels=labels, deployment_labels=labels)
    assert not found.color_is_signal
    assert found.group[0] == "h"
    assert any("shortcut" in warning for warning in found.warnings)


def test_labels_that_colour_knows_nothing_about_raise_no_warning():
    rng = torch.Generator().manual_seed(5)
    labels = torch.randint(2, (40,), generator=rng).tolist()
    found = _recommend(_images(40), shift(_images(40, seed=1), hue=0.3), labels=labels)
    assert not found.color_is_signal
    assert max(signal.strength for signal in found.signals.values()) < 0.5


def test_candidates_say_what_they_cannot_do():
    train, there = (ColorStatistics(sample_pixels(x, 64)) for x in (_images(), shift(_images(seed=1), saturation=0.5)))
    moves = movements(train, there)
    hue, saturation = (examine(name, train, there, moves) for name in ("h4", "s4"))
    assert hue.left_over > 0.9
    assert hue.sheet_changes == 0
    assert hue.entropy_density is None
    assert saturation.left_over < 0.2
    assert 0.2 < saturation.sheet_changes < 0.8
    assert 0 < saturation.entropy_density < 0.3
    assert (saturation.cost.direct, saturation.cost.fourier, saturation.cost.activations) == (4, 1.25, 2)


def test_one_image_is_not_enough():
    with pytest.raises(ValueError, match="at least two training images"):
        recommend(_images(1))
    with pytest.raises(ValueError, match="3 labels for 24 images"):
        _recommend(_images(), labels=[0, 1, 2])
