import numpy as np
import pytest
from PIL import Image

from t3cen.analysis.images import evenly, image_files, read_image


def test_every_kind_of_file_becomes_rgb(tmp_path):
    pixels = np.full((4, 6, 3), 200, dtype=np.uint8)
    for mode, suffix in (("RGB", "png"), ("L", "png"), ("P", "gif"), ("RGBA", "png"), ("CMYK", "jpg")):
        Image.fromarray(pixels).convert(mode).save(tmp_path / f"{mode}.{suffix}")
    for path in image_files(tmp_path):
        image = read_image(path)
        assert image.shape == (3, 4, 6)
        assert abs(image.mean().item() - 200 / 255) < 0.03


def test_large_images_are_made_smaller_without_new_colours(tmp_path):
    pixels = np.zeros((10, 20, 3), dtype=np.uint8)
    pixels[:, ::2] = 255
    Image.fromarray(pixels).save(tmp_path / "stripes.png")
    image = read_image(tmp_path / "stripes.png", longest=10)
    assert image.shape == (3, 5, 10)
    assert set(image.unique().tolist()) <= {0.0, 1.0}


def test_evenly_spread():
    assert evenly(list("abcdefgh"), 4) == ["a", "c", "e", "g"]
    assert evenly(list("ab"), 4) == ["a", "b"]


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        image_files(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no images in"):
        image_files(tmp_path)
    (tmp_path / "broken.png").write_bytes(b"not an image")
    with pytest.raises(ValueError, match="cannot be read as an image"):
        read_image(tmp_path / "broken.png")
