"""Pictures of every mode, listed files, and files nobody asked for."""

import contextlib
import errno
import io
import os

import numpy as np
import pytest
from PIL import Image

from t3cen.analysis.images import image_files, read_image
from t3cen.augment import deepaugment
from t3cen.data.errors import DataError, MissingData
from t3cen.data.files import FileSource, decode, rgb, visible
from t3cen.data.photographs import read_picture

GREY = (np.arange(16, dtype=np.uint16) * 4369).reshape(4, 4)
"""0, 4369 ... 65535: 0, 17 ... 255 of 255."""


@pytest.mark.parametrize("form", ["PNG", "TIFF", "PPM", "JPEG2000"])
def test_deep_grey_keeps_its_range(tmp_path, form):
    path = tmp_path / f"deep.{ {'JPEG2000': 'jp2', 'PPM': 'pgm'}.get(form, form.lower()) }"
    Image.fromarray(GREY).save(path, form)
    expected = np.repeat((GREY // 257)[None], 3, 0)
    assert np.array_equal(decode(path, "set", path), expected)
    if form != "JPEG2000":
        assert np.array_equal((read_image(path) * 255).round(), expected)


@pytest.mark.parametrize("mode", ["I;16", "I;16B", "I;16L", "I;16N"])
def test_deep_grey_of_any_byte_order(mode):
    assert rgb(Image.new(mode, (2, 2), 32896)).getpixel((0, 0)) == (128, 128, 128)


def test_deep_grey_where_0_is_white():
    stream = io.BytesIO()
    Image.fromarray(GREY).save(stream, "TIFF", tiffinfo={262: 0})
    assert np.array_equal(decode(stream, "set", "x")[0], 255 - GREY // 257)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "HSV"])
def test_modes_of_colour(mode):
    image = Image.new("RGB", (2, 2), (200, 100, 50))
    image = image.convert("RGBA").convert(mode) if mode == "RGBa" else image.convert(mode)
    assert rgb(image).mode == "RGB"
    assert np.abs(np.subtract(rgb(image).getpixel((0, 0)), (200, 100, 50))).max() <= 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "La", "P", "PA"])
def test_modes_of_grey(mode):
    image = Image.new("L", (2, 2), 255)
    for step in {"La": ("LA", "La"), "PA": ("P", "PA")}.get(mode, (mode,)):
        image = image.convert(step)
    assert rgb(image).getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (Image.fromarray(GREY.astype(np.int32)), "range.* 8 or 16 bits"),
        (Image.fromarray(GREY / np.float32(65535)), "range.* 8 or 16 bits"),
        (Image.new("RGB", (2, 2)).convert("LAB"), "CIELAB; save it as RGB"),
    ],
)
def test_what_would_have_to_be_guessed_is_refused(tmp_path, image, why):
    path = tmp_path / "x.tiff"
    image.save(path)
    with pytest.raises(DataError, match=rf"x\.tiff is no readable picture \(.*{why}"):
        decode(path, "set", path)
    with pytest.raises(ValueError, match=rf"x\.tiff cannot be read as an image \(.*{why}"):
        read_image(path)


def test_a_flipped_bit_in_a_png_is_noticed(tmp_path):
    pixels = np.zeros((32, 32, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    for bit in range(0, 8 * len(content), 7):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        with contextlib.suppress(DataError):
            assert np.array_equal(decode(io.BytesIO(damaged), "set", "a.png"), pixels.transpose(2, 0, 1)), bit


def test_no_advice_to_delete_what_the_operating_system_refuses(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    Image.new("RGB", (2, 2)).save(path)
    monkeypatch.setattr(Image, "open", lambda file: os.open(tmp_path, os.O_WRONLY))  # a refusal with its number
    with pytest.raises(DataError, match=r"a\.png is no readable picture \(.*\)\. Nothing has to be deleted") as told:
        decode(path, "set", path)
    assert "Delete" not in str(told.value)


def test_another_size_is_refused(tmp_path):
    Image.new("RGB", (96, 95)).save(tmp_path / "a.png")
    source = FileSource("set", [tmp_path / "a.png"], [0], size=96)
    with pytest.raises(DataError, match=r"a\.png has 96 x 95 pixels, 96 x 96 expected"):
        source.check()


class TestFileSource:
    @pytest.fixture
    def paths(self, tmp_path):
        paths = [tmp_path / folder / f"{number}.png" for folder in "ab" for number in range(3)]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            Image.new("RGB", (2, 2)).save(path)
        return paths

    def test_every_file_is_looked_at(self, paths):
        FileSource("set", paths, range(6)).check()
        paths[4].write_bytes(b"")
        with pytest.raises(DataError, match=r"b/1\.png is no readable picture"):
            FileSource("set", paths, range(6)).check()
        paths[4].unlink()
        paths[5].unlink()
        paths[5].mkdir()
        with pytest.raises(MissingData, match=r"1\.png and 1 more pictures is missing"):
            FileSource("set", paths, range(6))

    def test_links_count_as_files(self, paths):
        paths[0].rename(paths[0].with_name("elsewhere.png"))
        paths[0].symlink_to(paths[0].with_name("elsewhere.png"))
        FileSource("set", paths, range(6)).check()

    def test_listed_twice(self, paths):
        with pytest.raises(DataError, match=r"a/1\.png is listed twice"):
            FileSource("set", [*paths, paths[1]], range(7))

    def test_odd_labels(self, paths):
        with pytest.raises(DataError, match=r"has no usable labels \(labels must be whole numbers, got 0.5"):
            FileSource("set", paths[:2], [0, 0.5])


@pytest.mark.parametrize("read", [read_image, read_picture, deepaugment.read_picture])
@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.EIO])
def test_a_file_that_the_system_keeps_back_is_not_to_be_deleted(read, number, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("PIL.Image.open", refuse)
    with pytest.raises((ValueError, DataError), match=os.strerror(number)) as told:
        read(tmp_path / "a" / "a.png")
    assert not any(word in str(told.value).lower() for word in ("remove", "replace", "delete it"))


def test_what_macos_leaves_is_not_seen(tmp_path):
    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    (tmp_path / "._a.png").write_bytes(b"no picture")
    (tmp_path / ".thumbnails").mkdir()
    (tmp_path / ".thumbnails" / "a.png").write_bytes(b"no picture")
    (tmp_path / ".DS_Store").write_bytes(b"Bud1")
    (tmp_path / "__MACOSX" / "a").mkdir(parents=True)  # beside what an archive of macOS holds
    (tmp_path / "__MACOSX" / "a" / "._a.png").write_bytes(b"no picture")
    assert list(visible(tmp_path)) == [tmp_path / "a.png"]
    assert image_files(tmp_path) == [tmp_path / "a.png"]
