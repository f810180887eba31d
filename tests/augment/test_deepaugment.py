"""DeepAugment: the noise, the pictures made with it, and the folder that must be complete."""

import json
import shutil
from functools import partial

import pytest
import torch
from PIL import Image
from torch.nn import functional as F

from t3cen.augment import DeepAugment
from t3cen.augment import network_noise as noise
from t3cen.augment.autoencoder import ImageToImage, train
from t3cen.augment.deepaugment import VARIANTS, folder_of, picture_path, read_picture
from t3cen.augment.generate import generate
from t3cen.data.errors import DataError
from t3cen.data.items import ArraySource, TrainItems

INDICES = [1, 2, 3, 5, 8]
SETTINGS = {"steps": 3, "batch_size": 2, "crop": 8}


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def source(seed=0):
    images = torch.randint(256, (10, 3, 9, 12), dtype=torch.uint8, generator=rng(seed))
    return ArraySource(images, torch.arange(10))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    generate(source(), INDICES, folder_of("digits", root), **SETTINGS)
    return root


@pytest.fixture
def root(made, tmp_path):
    return shutil.copytree(made, tmp_path / "data")


def items(root, pictures=None, indices=INDICES):
    return TrainItems(pictures or source(), torch.tensor(indices), None, DeepAugment("digits", root), seed=1)


def test_a_view_gives_originals_and_variants_one_size(root):
    for variant in VARIANTS:  # of pictures that were larger than these
        for index in INDICES:
            Image.new("RGB", (20, 16)).save(picture_path(folder_of("digits", root), variant, index))
    augmentation = DeepAugment("digits", root)
    view = partial(F.interpolate, size=(6, 6))
    drawn = TrainItems(source(), torch.tensor(INDICES), None, augmentation, 1, view=lambda picture: view(picture[None])[0])
    images = [drawn[epoch, index][0] for epoch in range(6) for index in range(len(INDICES))]
    assert {image.shape for image in images} == {(3, 6, 6)}
    assert 0 < sum(image.max().item() == 0 for image in images) < len(images)


def test_each_operation_changes_some_filters_and_leaves_the_others():
    filters = torch.randn(20, 4, 3, 3, generator=rng())
    for operation in noise.WEIGHT_NOISE:
        changed = noise._some(filters, (operation,), 0.25, rng(1))
        different = (changed != filters).flatten(1).any(1).sum().item()
        assert 3 <= different <= 5, operation
        assert changed.shape == filters.shape
        assert changed.isfinite().all()


def test_each_operation_changes_some_channels_and_leaves_the_others():
    channels = torch.randn(20, 8, 6, generator=rng())
    for operation in noise.ACTIVATION_NOISE:
        changed = noise._some(channels, (operation,), 0.25, rng(1))
        assert 3 <= (changed != channels).flatten(1).any(1).sum().item() <= 5, operation
        assert changed.shape == channels.shape
        assert changed.isfinite().all()


def test_what_the_operations_do():
    x = torch.arange(18.0).view(2, 1, 3, 3) + 1
    assert torch.equal(noise._zero(x, rng()), torch.zeros_like(x))
    assert torch.equal(noise._negate(x, rng()), -x)
    assert torch.equal(noise._transpose(x, rng())[0, 0, 0], torch.tensor([1.0, 4, 7]))
    assert sorted(noise._exchange(x, rng(3)).flatten().tolist()) == x.flatten().tolist()
    gains = noise._scale(x, rng()) / x
    assert torch.allclose(gains, gains[:, :1, :1, :1].expand_as(gains))
    assert ((gains >= 0) & (gains <= 2)).all()


@pytest.mark.parametrize("kind", VARIANTS)
def test_disturbance_changes_the_image_by_its_generator_alone(kind):
    torch.manual_seed(0)
    network = ImageToImage(width=16)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    image = torch.rand(3, 10, 7, generator=rng())
    out = noise.disturbed(network, image, kind, rng(1))
    assert out.shape == image.shape
    assert 0 <= out.min() <= out.max() <= 1
    assert torch.equal(out, noise.disturbed(network, image, kind, rng(1)))
    assert not torch.equal(out, noise.disturbed(network, image, kind, rng(2)))
    assert not torch.equal(out, network(image[None])[0].clamp(0, 1))
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())


def test_unknown_kind():
    with pytest.raises(ValueError, match="weights or activations, got 'both'"):
        noise.disturbed(ImageToImage(4), torch.rand(3, 8, 8), "both", rng())


@pytest.mark.parametrize("size", [(8, 8), (7, 9), (1, 2)])
def test_autoencoder_takes_any_size(size):
    assert ImageToImage(4)(torch.rand(2, 3, *size)).shape == (2, 3, *size)


def test_autoencoder_learns_to_return_its_input():
    torch.manual_seed(0)
    network = ImageToImage(16, depth=2)
    smooth = F.interpolate(torch.rand(60, 8, 3, 4, 4, generator=rng()).flatten(0, 1), (16, 16), mode="bilinear").view(
        60, 8, 3, 16, 16
    )
    untrained = F.mse_loss(network(smooth[0]), smooth[0]).item() ** 0.5
    assert train(network, iter(smooth)) < 0.4 * untrained
    with pytest.raises(ValueError, match="at least one batch"):
        train(network, [])


def test_pictures_of_a_draw_are_originals_and_both_variants(root):
    made, originals = items(root), source()
    for position, index in enumerate(INDICES):
        known = {"clean": originals.picture(index)}
        known |= {v: read_picture(picture_path(folder_of("digits", root), v, index)) for v in VARIANTS}
        seen = set()
        for epoch in range(25):
            image, label = made[(epoch, position)]
            assert label == index
            assert image.dtype == torch.float32
            seen |= {name for name, picture in known.items() if torch.equal(image, picture / 255)}
        assert seen == {"clean", *VARIANTS}


def test_each_is_drawn_equally_often(root):
    augmentation = DeepAugment("digits", root)
    augmentation.check(source(), torch.tensor(INDICES))
    original, generator = source().picture(1), rng()
    clean = sum(torch.equal(augmentation.picture(original, 1, generator), original) for _ in range(300))
    assert 75 <= clean <= 125


def test_pictures_made_anew_are_other_data(root, tmp_path):
    def fingerprint():
        augmentation = DeepAugment("digits", root)
        augmentation.check(source(), torch.tensor(INDICES))
        return augmentation.fingerprint()

    first, path = fingerprint(), picture_path(folder_of("digits", root), "activations", 8)
    assert fingerprint() == first
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    assert fingerprint() != first
    with pytest.raises(RuntimeError, match="check has not been called"):
        DeepAugment("digits", root).fingerprint()


def test_generation_goes_on_where_it_stopped_and_repeats_itself(root, tmp_path):
    folder = folder_of("digits", root)
    lost = picture_path(folder, "weights", 5)
    kept, original = picture_path(folder, "weights", 3), lost.read_bytes()
    lost.unlink()
    (folder / "manifest.json").unlink()
    untouched = kept.stat().st_mtime_ns
    generate(source(), INDICES, folder, **SETTINGS)
    assert lost.read_bytes() == original
    assert kept.stat().st_mtime_ns == untouched
    generate(source(), INDICES, tmp_path / "again", **SETTINGS)
    for variant in VARIANTS:
        for index in INDICES:
            assert (
                picture_path(tmp_path / "again", variant, index).read_bytes() == picture_path(folder, variant, index).read_bytes()
            )
    assert not list(folder.glob("**/.*"))


def test_an_interruption_leaves_nothing_half_written(tmp_path):
    def stop(sequence, what):
        for number, item in enumerate(sequence):
            if what == "disturbing activations" and number == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        generate(source(), INDICES, tmp_path / "deepaugment" / "digits", progress=stop, **SETTINGS)
    with pytest.raises(DataError, match=r"no manifest.json, so it is unfinished"):
        items(tmp_path)


def test_other_settings_do_not_mix(root):
    with pytest.raises(ValueError, match="begun with other settings"):
        generate(source(), INDICES, folder_of("digits", root), **{**SETTINGS, "steps": 4})
    with pytest.raises(ValueError, match="begun with other fingerprints"):
        generate(source(1), INDICES, folder_of("digits", root), **SETTINGS)
    with pytest.raises(ValueError, match="got 0 pictures"):
        generate(source(), [], folder_of("digits", root), **SETTINGS)


def test_large_pictures_are_made_smaller(tmp_path):
    generate(source(), [1], tmp_path, largest=6, **SETTINGS)
    assert read_picture(picture_path(tmp_path, "weights", 1)).shape == (3, 6, 8)


def test_missing_folder_stops_the_training(tmp_path):
    with pytest.raises(DataError, match=r"is missing.*generate_deepaugment.py data=digits"):
        items(tmp_path)


@pytest.mark.parametrize(
    "content", ["", '{"variants": ', "[]", "{}", '{"variants": [], "count": "5", "fingerprints": {}}',
                '{"variants": [], "count": 5, "fingerprints": {"x": "0"}}'],
)  # fmt: skip
def test_a_damaged_manifest_is_named(content, root):
    path = folder_of("digits", root) / "manifest.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"digits/manifest.json is damaged: .*Delete the folder"):
        items(root)


def test_missing_picture(root):
    picture_path(folder_of("digits", root), "activations", 5).unlink()
    with pytest.raises(DataError, match=r"activations holds 4 pictures, 5 expected .* 1 of the 5 training pictures.*000005.png"):
        items(root)


def test_picture_too_many(root):
    folder = folder_of("digits", root)
    shutil.copy(picture_path(folder, "weights", 1), picture_path(folder, "weights", 9))
    with pytest.raises(DataError, match="holds 6 pictures, 5 expected"):
        items(root)


def test_training_pictures_it_was_not_made_for(root):
    with pytest.raises(DataError, match="1 of the 6 training pictures are missing"):
        items(root, indices=[*INDICES, 7])
    assert len(items(root, indices=INDICES[:3])) == 3  # a shortened training set is a part of it


def test_other_originals(root):
    with pytest.raises(DataError, match="made from other pictures than these"):
        items(root, pictures=source(1))


def test_unreadable_picture(root):
    path = picture_path(folder_of("digits", root), "weights", 1)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(DataError, match=r"000001.png cannot be read"):
        read_picture(path)


def test_never_unchecked():
    with pytest.raises(RuntimeError, match="check has not been called"):
        DeepAugment("digits").picture(source().picture(0), 0, rng())


def test_manifest_says_what_it_was_made_from(root):
    manifest = json.loads((folder_of("digits", root) / "manifest.json").read_text())
    assert manifest["count"] == 5
    assert manifest["settings"] == {**SETTINGS, "largest": 256, "seed": 0}
    with Image.open(picture_path(folder_of("digits", root), "weights", 1)) as image:
        assert (image.mode, image.size) == ("RGB", (12, 9))
