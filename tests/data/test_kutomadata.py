"""Drawn tomatoes: their hue is the label, and nothing else is."""

import numpy as np
import pytest
import torch

from t3cen.color import rgb_to_hsl
from t3cen.data import KUTomaData
from t3cen.data.kutomadata_synthetic import HUES, tomato


def fruit(label, index):
    """Hue of the fruit in turns from -.5, its share of the picture, and the largest saturation of the fruitless corners."""
    hue, saturation, _ = rgb_to_hsl(torch.from_numpy(tomato(label, index, 48, 0)).float() / 255)
    on_fruit = saturation > 0.3
    return float(((hue[on_fruit] + 0.5) % 1 - 0.5).median()), float(on_fruit.float().mean()), float(saturation[::47, ::47].max())


def test_the_hue_of_the_fruit_is_the_label_and_the_ground_has_none():
    seen = [[fruit(label, index) for index in range(40)] for label in (0, 1)]
    for label, (low, high) in HUES.items():
        assert all(low - 0.02 <= hue <= high + 0.02 for hue, _, _ in seen[label])
    assert max(ground for part in seen for _, _, ground in part) < 0.02
    shares = [np.mean([share for _, share, _ in part]) for part in seen]
    assert shares[0] == pytest.approx(shares[1], rel=0.2)


def test_without_files_they_are_drawn_and_no_picture_is_in_both_parts():
    data = KUTomaData(source="synthetic", image_size=32, seed=0)
    parts = data.read()
    assert (len(parts.train), len(parts.test)) == (700, 300)
    assert data.provenance["source"] == "synthetic"
    train = {parts.train.picture(i).numpy().tobytes() for i in range(700)}
    assert len(train) == 700
    assert not train & {parts.test.picture(i).numpy().tobytes() for i in range(300)}
