"""Hue-shift MNIST from the bundled digits."""

import pytest
import torch

from t3cen.color import rgb_to_hsv
from t3cen.data import MNIST
from t3cen.data.mnist import bundled_digits


def bundled(**options):
    return MNIST(source="bundled", batch_size=32, test_batch_size=500, **options)


@pytest.fixture(scope="module")
def data():
    module = bundled()
    module.setup()
    return module


def hues(items, count=300):
    """The hue of each picture, in degrees, read off its brightest pixel."""
    found = []
    for i in range(min(count, len(items))):
        image, _ = items[i]
        at = int(image.amax(0).argmax())
        found.append(float(rgb_to_hsv(image)[0].flatten()[at]) * 360)
    return torch.tensor(found)


def test_bundled_digits_are_whole():
    grey, labels = bundled_digits()
    assert grey.shape == (5000, 28, 28)
    assert torch.equal(labels.bincount(), torch.full((10,), 500))


def test_hue_ranges(data):
    inside, outside = hues(data.splits.test["in"]), hues(data.splits.test["shift"])
    training = hues(data.splits.train)
    for found, low, high in ((training, 0, 120), (inside, 0, 120), (outside, 120, 360)):
        assert found.min() >= low - 0.5
        assert found.max() <= high + 0.5
        assert found.max() - found.min() > 0.9 * (high - low)


def test_recipe_keeps_black_and_the_grey_level_as_value(data):
    grey, _ = bundled_digits()
    image, _ = data.splits.train[0]
    value = image.amax(0)
    assert (value == 0).any()
    assert torch.all((value * 255).round() <= 255)
    saturation = rgb_to_hsv(image)[1][value > 0]
    torch.testing.assert_close(saturation, torch.ones_like(saturation), atol=1e-5, rtol=0)
    assert (grey.flatten(1) == (value.flatten() * 255).round().to(torch.uint8)).all(1).any()


def test_sets_are_disjoint_and_whole(data):
    def digits(items):
        return {items[i][0].amax(0).mul(255).round().to(torch.uint8).numpy().tobytes() for i in range(len(items))}

    train, hold = digits(data.splits.train), digits(data.splits.validation["validation"])
    test = digits(data.splits.test["in"])
    assert not train & hold
    assert not train & test
    assert not hold & test
    assert test == digits(data.splits.test["shift"])
    assert len(data.splits.train) + len(data.splits.validation["validation"]) + len(test) == 5000


def test_seed_moves_the_order_and_not_the_pictures(data):
    other = bundled(seed=7)
    assert torch.equal(data.splits.train.indices, other.splits.train.indices)
    assert torch.equal(data.splits.train[5][0], other.splits.train[5][0])
    first, second = next(iter(data.train_dataloader())), next(iter(other.train_dataloader()))
    assert not torch.equal(first[0], second[0])


def test_angle_turns_the_hues_of_the_test_digits():
    turned = bundled(angle=15, test_size=50)
    difference = hues(turned.splits.test["shift"]) - hues(turned.splits.test["in"])
    torch.testing.assert_close(difference, torch.full_like(difference, 15.0), atol=0.6, rtol=0)
    same = bundled(angle=0, test_size=5)
    assert torch.equal(same.splits.test["shift"][3][0], same.splits.test["in"][3][0])


def test_shorter_sets_are_parts_of_longer(data):
    short = bundled(train_size=100, test_size=20)
    assert set(short.splits.train.indices.tolist()) < set(data.splits.train.indices.tolist())
    assert short.provenance["sizes"] == {"train": 100, "validation": 20, "test/in": 20, "test/shift": 20}
    at = int(short.splits.test["shift"].indices[4])
    assert torch.equal(short.splits.test["shift"][4][0], data.splits.test["shift"][at][0])


def test_missing_files_say_what_where_and_how(tmp_path):
    with pytest.raises(RuntimeError) as error:
        MNIST(root=tmp_path).setup()
    message = str(error.value)
    for part in ("train-images-idx3-ubyte", str(tmp_path / "MNIST" / "raw"), "prepare_data.py mnist", "data.source=bundled"):
        assert part in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "rendered"}, "choose from files, bundled"),
        ({"train_hue": (0, 400)}, "0 <= low <= high <= 360"),
        ({"digits": "letters"}, "mnist, fashion"),
        ({"digits": "fashion", "source": "bundled"}, "not bundled"),
        ({"shift_mode": "wrap"}, "clip, fold, scale"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"train_size": 0}, "train_size must be at least 1"),
        ({"validation_fraction": 1.0}, r"validation_fraction must be in \[0, 1\)"),
        ({"image_size": 64}, "28 pixels only"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        MNIST(**options)


def test_a_set_of_fewer_items_than_processes_is_refused_before_training(monkeypatch):
    monkeypatch.setattr(MNIST, "_process", lambda self: (1, 2))
    bundled(test_size=2).setup()
    with pytest.raises(ValueError, match=r"'validation' has 1 items, fewer than the 2 processes .*trainer.devices to 1 at most"):
        bundled(test_size=1).setup()
