import pytest
import torch
from torchvision.utils import save_image

from t3cen.figures.pictures import caption, examples


def _folder(tmp_path, sizes=((8, 8), (8, 8), (8, 8))):
    for at, (height, width) in enumerate(sizes):
        save_image(torch.full((3, height, width), at / 4), tmp_path / f"{at}.png")
    return str(tmp_path)


def test_images_of_a_folder(tmp_path):
    images = examples(_folder(tmp_path), 2, skip=1)
    assert images.shape == (2, 3, 8, 8)
    assert images[:, 0, 0, 0].tolist() == pytest.approx([0.25, 0.5], abs=0.01)


def test_images_of_different_sizes_need_a_size(tmp_path):
    where = _folder(tmp_path, ((8, 8), (6, 8)))
    with pytest.raises(ValueError, match="different sizes"):
        examples(where, 2)
    assert examples(where, 2, size=5).shape == (2, 3, 5, 5)


def test_what_is_not_there_is_named_and_no_size_is_below_one(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere' is neither a file, nor a folder, nor a data set; data sets are .*cifar10"):
        examples(str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="at least 1 pixel, got 0"):
        examples(_folder(tmp_path), 2, size=0)


def test_too_few_images(tmp_path):
    with pytest.raises(ValueError, match="3 images left after 0, 5 expected"):
        examples(_folder(tmp_path), 5)


def test_images_of_a_data_set_and_what_they_are():
    images = examples("mnist", 3, split="shift")
    assert images.shape == (3, 3, 28, 28)
    assert caption("mnist", "Digits") == "Digits (bundled digits)"
    with pytest.raises(ValueError, match="no split 'B'; it has train, validation, in, shift"):
        examples("mnist", 1, split="B")
