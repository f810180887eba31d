"""A person's own images: every layout and format, upright, split by seed, shifted, and refused in words that help."""

import numpy as np
import pytest
import torch
from PIL import Image

from t3cen.data import Folder
from t3cen.data.errors import DataError
from t3cen.data.files import open_rgb
from t3cen.data.shifts import shift
from t3cen.experiments.composition import compose_with
from t3cen.experiments.content import content, title
from t3cen.experiments.identity import config_hash

COLORS = {"blue": (20, 60, 220), "green": (30, 200, 60), "red": (220, 40, 20)}


def save(path, color=(200, 100, 50), size=(8, 6), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, color).save(path, **options)


def fill(folder, counts):
    """Class folders with so many plain pictures of the class's colour each."""
    for name, count in counts.items():
        for number in range(count):
            save(folder / name / f"{number:02d}.png", COLORS[name])
    return folder


@pytest.fixture
def images(tmp_path):
    return fill(tmp_path / "photos", {"red": 10, "blue": 5, "green": 3})


def labels(items):
    return [items.source.label(i) for i in items.indices.tolist()]


def test_one_folder_is_split_class_by_class(images):
    data = Folder(root=images, image_size=4, validation_fraction=0.2)
    assert data.class_names == ("blue", "green", "red")
    assert [labels(data.splits.test["vanilla"]).count(label) for label in range(3)] == [1, 1, 2]
    assert {name: len(items) for name, items in data.splits.sets().items()}["train"] == 11
    assert data.splits.train.view(data.splits.train.source.picture(0)).shape == (3, 4, 4)
    other = Folder(root=images, image_size=4, validation_fraction=0.2, split_seed=1)
    assert other.splits.test["vanilla"].indices.tolist() != data.splits.test["vanilla"].indices.tolist()


def test_small_classes_keep_pictures_to_train_on(images):
    data = Folder(root=images, test_fraction=1.0)
    assert [labels(data.splits.test["vanilla"]).count(label) for label in range(3)] == [3, 1, 8]


@pytest.mark.parametrize("with_validation", [True, False])
def test_parts_of_their_own(tmp_path, with_validation):
    counts = {"train": {"red": 6, "blue": 4}, "test": {"red": 2, "blue": 3}}
    for part, found in (counts | ({"val": {"red": 1, "blue": 1}} if with_validation else {})).items():
        fill(tmp_path / part, found)
    sizes = Folder(root=tmp_path).provenance["sizes"]
    assert (sizes["train"], sizes["validation"]) == ((10, 2) if with_validation else (9, 1))
    assert sizes["test/vanilla"] == sizes["test/hue"] == 5


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp", "gif", "webp", "tif", "ppm", "tga", "ico", "PCX", "jp2"])
def test_formats(tmp_path, suffix):
    fill(tmp_path, {"red": 3, "blue": 2})
    save(tmp_path / "blue" / "deeper" / f"one.{suffix}", size=(16, 16))
    (tmp_path / "blue" / "notes.txt").write_text("no picture")
    save(tmp_path / "blue" / "._hidden.png")
    data = Folder(root=tmp_path)
    assert (
        labels(data.splits.train).count(0)
        + labels(data.splits.test["vanilla"]).count(0)
        + len([label for label in labels(data.splits.validation["validation"]) if label == 0])
        == 3
    )
    data.check()


@pytest.mark.parametrize("suffix", ["jpg", "png", "tif", "webp"])
def test_upright(tmp_path, suffix):
    pixels = np.zeros((16, 32, 3), np.uint8)
    pixels[:, :16] = 255  # white at the left; turned by a quarter clockwise it is at the top
    exif = Image.Exif()
    exif[274] = 6
    path = tmp_path / f"turned.{suffix}"
    Image.fromarray(pixels).save(path, exif=exif)
    assert suffix == "tif" or open_rgb(path).size == (32, 16)
    turned = np.array(open_rgb(path, upright=True))
    assert turned.shape == (32, 16, 3)
    assert turned[:14].min() > 200
    assert turned[18:].max() < 50


def test_shifted_tests_are_what_their_names_say(images):
    tests = Folder(root=images, image_size=4, reduction=0.25, order=3).splits.test
    for at in range(len(tests["vanilla"])):
        image = tests["vanilla"][at][0]
        close = {
            "hue_steps": [shift(image, hue=k / 3) for k in (1, 2)],
            "saturation_steps": [shift(image, saturation=2 * k / 3, mode="fold") for k in (1, 2)],
            "luminance_steps": [shift(image, luminance=2 * k / 3, mode="fold") for k in (1, 2)],
            "saturation": [shift(image, saturation=-0.25)],
            "luminance": [shift(image, luminance=-0.25)],
        }
        for name, candidates in close.items():
            assert min((tests[name][at][0] - one).abs().max() for one in candidates) < 1e-5, name
        assert (tests["hue"][at][0] - image).abs().max() > 1e-3
    drawn = [tests["hue"][at][0] for at in range(2)]
    assert not torch.equal(*drawn)


EMPTY, LONELY, FEW = {"red": 3, "blue": 3}, {"red": 3}, {"red": 3, "blue": 2}


@pytest.mark.parametrize(
    ("counts", "change", "told"),
    [
        (EMPTY, lambda root: (root / "violet").mkdir(), r"class folder .*violet holds 0 images; 3 are needed"),
        (
            FEW,
            lambda root: None,
            r"class folder .*blue holds 2 images; 3 are needed, one each for training, validation and tests",
        ),
        (LONELY, lambda root: None, r"holds one class folder only \(red\); put the images into two folders or more"),
        ({}, lambda root: save(root / "one.png"), "holds no class folders"),
        ({}, lambda root: None, "no folder .*images; data.root=PATH"),
        (EMPTY, lambda root: fill(root / "train", EMPTY), "has a folder 'train' but no 'test'"),
        (EMPTY, lambda root: (root / "red" / "02.png").write_bytes(b"no"), r"red/02.png cannot be read as an image .*Remove it"),
    ],
)
def test_refusals(tmp_path, counts, change, told):
    root = fill(tmp_path / "images", counts)
    change(root)
    with pytest.raises(DataError, match=told):
        Folder(root=root).check()


def test_a_test_set_has_the_classes_of_training(tmp_path):
    fill(tmp_path / "train", {"red": 2, "blue": 2})
    fill(tmp_path / "test", {"red": 1, "blue": 1, "green": 1})
    with pytest.raises(DataError, match="a folder 'green', which is no class; classes are blue, red"):
        Folder(root=tmp_path).setup()


@pytest.mark.parametrize(
    ("option", "told"),
    [({"crop": "random"}, "crop must be one of none, flip, resized"), ({"order": 1}, "order must be at least 2, got 1"),
     ({"test_fraction": 0}, r"test_fraction must be in \(0, 1\], got 0"), ({"reduction": 2}, "reduction must be in")],
)  # fmt: skip
def test_arguments_out_of_range(option, told):
    with pytest.raises(ValueError, match=told):
        Folder(root="anywhere", **option)


def test_known_classes_need_no_files():
    assert Folder(root="nowhere", classes=["a", "b"]).num_classes == 2


def test_content_is_names_and_sizes_wherever_the_folder_lies(images, tmp_path):
    found = content(images)
    (images / "red" / ".DS_Store").write_text("hidden")
    moved = images.rename(tmp_path / "elsewhere")
    assert content(moved) == found
    assert len(found) == 16
    (moved / "red" / "00.png").rename(moved / "red" / "new.png")
    assert content(moved) != found
    assert content(tmp_path / "nothing") == ""
    assert title(tmp_path / "my photos, 2025") == "my_photos__2025"


def test_other_images_are_another_run(images):
    lines = ["data=folder", f"data.root={images}", "model=t3cen"]
    config = compose_with(lines)
    assert config["name"] == "folder_photos"
    (images / "red" / "00.png").unlink()
    assert config_hash(compose_with(lines)) != config_hash(config)
    with pytest.raises(DataError, match="are not those this run was begun with"):
        Folder(root=images, content=config["data"]["content"]).setup()
