import pytest
import torch

from t3cen.analysis.color_as_label import color_signals
from t3cen.analysis.color_statistics import ColorStatistics, sample_pixels
from t3cen.color import hsl_to_rgb


def _statistics(hues, seed=0):
    rng = torch.Generator().manual_seed(seed)
    own = torch.stack([hues, 0.4 + 0.2 * torch.rand(len(hues), generator=rng), torch.full_like(hues, 0.5)], 1)
    hsl = own[:, :, None] + 0.02 * torch.rand(len(hues), 3, 64, generator=rng)
    return ColorStatistics(sample_pixels(hsl_to_rgb(hsl[:, :, None]), 64))


def test_hue_that_is_the_class_and_hue_that_is_not():
    labels = [0, 1] * 15
    told = color_signals(_statistics(torch.tensor([0.0, 0.4] * 15)), labels)
    assert told["hue"].strength > 0.9
    assert told["hue"].information > 0.9
    assert told["saturation"].strength < 0.6
    rng = torch.Generator().manual_seed(1)
    untold = color_signals(_statistics(torch.rand(30, generator=rng)), labels)
    assert untold["hue"].strength < 0.5
    assert untold["hue"].information < 0.4


def test_whether_the_rule_holds_elsewhere():
    labels = [0, 1] * 15
    train = _statistics(torch.tensor([0.0, 0.4] * 15))
    same, other = (
        color_signals(train, labels, _statistics(torch.tensor(h), 1), labels) for h in ([0.0, 0.4] * 15, [0.4, 0.0] * 15)
    )
    assert same["hue"].transferred_strength > 0.9
    assert other["hue"].transferred_strength == 0


def test_too_few_images_to_say():
    assert color_signals(_statistics(torch.rand(6)), [0, 1] * 3) is None
    assert color_signals(_statistics(torch.rand(6)), [0] * 6) is None
    with pytest.raises(ValueError, match="2 labels for 6 images"):
        color_signals(_statistics(torch.rand(6)), [0, 1])
