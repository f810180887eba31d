"""Vanilla, saturation- and luminance-shifted tests of the natural image sets."""

import pytest
import torch

from t3cen.data import CIFAR10, Caltech101, KUTomaData, Pets
from t3cen.data.shifts import shift


@pytest.mark.parametrize("mode", ["clip", "fold", "scale"])
@pytest.mark.parametrize("cls", [CIFAR10, Pets])
def test_shifted_tests_are_the_vanilla_pictures_shifted(fakes, cls, mode):
    options = {} if cls is CIFAR10 else {"image_size": 32}
    tests = cls(root=fakes, shift_mode=mode, **options).splits.test
    for i in range(5):
        vanilla, label = tests["vanilla"][i]
        assert torch.equal(tests["saturation"][i][0], shift(vanilla, saturation=-0.5, mode=mode))
        assert torch.equal(tests["luminance"][i][0], shift(vanilla, luminance=-0.5, mode=mode))
        assert label == tests["saturation"][i][1] == tests["luminance"][i][1]


def test_reduction_is_an_argument(fakes):
    tests = CIFAR10(root=fakes, reduction=0.2).splits.test
    assert torch.equal(tests["luminance"][3][0], shift(tests["vanilla"][3][0], luminance=-0.2))
    with pytest.raises(ValueError, match=r"reduction must be in \(0, 1\], got 0"):
        CIFAR10(root=fakes, reduction=0)


def test_only_training_is_random(fakes):
    data = Pets(root=fakes, image_size=32)
    train = data.splits.train
    assert not torch.equal(train[(0, 5)][0], train[(1, 5)][0])
    assert torch.equal(train[(1, 5)][0], train[(1, 5)][0])
    hold = data.splits.validation["validation"]
    assert torch.equal(hold[1][0], hold[1][0])


def test_caltech_split_is_two_thirds_and_its_own(fakes):
    data, other, moved = (Caltech101(root=fakes, image_size=32, **o) for o in ({}, {"seed": 3}, {"split_seed": 1}))
    train = len(data.splits.train) + len(data.splits.validation["validation"])
    assert train == int(0.67 * (train + len(data.splits.test["vanilla"])))
    assert torch.equal(data.splits.test["vanilla"].indices, other.splits.test["vanilla"].indices)
    assert not torch.equal(data.splits.test["vanilla"].indices, moved.splits.test["vanilla"].indices)


def test_validation_can_be_given_back(fakes):
    data = CIFAR10(root=fakes, validation_fraction=0)
    assert data.validation_names == ()
    assert data.val_dataloader() == []
    assert len(data.splits.train) == 100


def test_tomatoes_have_one_test_set(fakes):
    data = KUTomaData(root=fakes, image_size=32)
    assert data.test_names == ("test",)
    assert data.class_names == ("ripe", "unripe")


def test_224_pixels_and_statistics_of_the_published_code():
    data = Pets()
    assert data.image_size == 224
    assert (data.view().shorter, data.view().size) == (256, 224)
    assert data.mean == (0.4914, 0.4822, 0.4465)
