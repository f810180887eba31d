"""What every augmentation promises, and what each one does."""

import colorsys
import pickle
from pathlib import Path

import pytest
import torch
from hydra.utils import get_class, instantiate
from omegaconf import OmegaConf

from t3cen.augment import AUGMENTATIONS, AugMix, ColorJitter, PlanckianJitter
from t3cen.data.items import PictureAugmentation

NODES = {path.stem: OmegaConf.load(path).augment for path in sorted((Path(__file__).parents[2] / "conf" / "augment").glob("*"))}
CLASSES = {name: get_class(node._target_) for name, node in NODES.items() if node is not None}
MADE = {
    # one that puts other pictures in the place of the originals does nothing to an image: test_deepaugment.py
    **{name: instantiate(NODES[name]) for name, made in CLASSES.items() if not issubclass(made, PictureAugmentation)},
    "augmix_all": AugMix(all_ops=True, severity=10),
    "planckian": PlanckianJitter(p=1.0),
    "daylight": PlanckianJitter("CIED"),
}


@pytest.fixture(params=MADE)
def augmentation(request):
    return MADE[request.param]


def test_every_augmentation_is_configured():
    assert set(CLASSES.values()) == set(AUGMENTATIONS.values())


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def image(seed=0, size=(12, 9)):
    return torch.randint(256, (3, *size), dtype=torch.uint8, generator=rng(seed))


def views(result):
    return result if isinstance(result, tuple) else (result,)


def test_range_type_and_shape(augmentation):
    for seed in range(20):
        made = views(augmentation(image(seed), rng(seed)))
        assert len(made) == getattr(augmentation, "views", 1)
        for view in made:
            assert view.dtype == torch.float32
            assert view.shape == (3, 12, 9)
            assert view.min() >= 0
            assert view.max() <= 1


def test_decided_by_the_generator_alone(augmentation):
    torch.manual_seed(1)
    first = views(augmentation(image(), rng(5)))
    torch.manual_seed(2)
    second = views(augmentation(image(), rng(5)))
    others = [views(augmentation(image(), rng(seed))) for seed in range(6, 12)]
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert any(not torch.equal(a, b) for other in others for a, b in zip(first, other, strict=True))


def test_draws_anew_from_the_same_generator(augmentation):
    generator = rng(5)
    results = [views(augmentation(image(), generator)) for _ in range(6)]
    assert any(not torch.equal(a, b) for other in results[1:] for a, b in zip(results[0], other, strict=True))


def test_leaves_the_global_generator_and_the_image_alone(augmentation):
    picture = image()
    torch.manual_seed(3)
    before = torch.get_rng_state()
    augmentation(picture, rng(1))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(picture, image())


def test_global_generator_comes_back_after_an_error():
    before = torch.get_rng_state()
    with pytest.raises(ValueError, match="one uint8 image"):
        AugMix()(image().float(), rng())
    assert torch.equal(torch.get_rng_state(), before)


def test_survives_pickling_to_a_worker(augmentation):
    other = pickle.loads(pickle.dumps(augmentation))
    pairs = zip(views(augmentation(image(), rng())), views(other(image(), rng())), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("bad", [image().float() / 255, image()[:1], image()[None]])
def test_takes_one_uint8_rgb_image(augmentation, bad):
    with pytest.raises(ValueError, match=r"one uint8 image \(3, H, W\)"):
        augmentation(bad, rng())


def test_hue_jitter_changes_hue_alone():
    colour = torch.tensor([200, 120, 40], dtype=torch.uint8).view(3, 1, 1)
    before = colorsys.rgb_to_hsv(*(colour.flatten() / 255).tolist())
    hues = []
    for seed in range(50):
        after = colorsys.rgb_to_hsv(*ColorJitter(hue=0.25)(colour, rng(seed)).flatten().tolist())
        assert after[1:] == pytest.approx(before[1:], abs=1e-5)
        hues.append((after[0] - before[0] + 0.5) % 1 - 0.5)
    assert max(map(abs, hues)) <= 0.25 + 1e-5
    assert min(hues) < -0.15
    assert max(hues) > 0.15


def test_full_jitter_changes_brightness_too():
    grey = torch.full((3, 4, 4), 100, dtype=torch.uint8)
    levels = [ColorJitter(brightness=0.5)(grey, rng(seed)).mean().item() * 255 for seed in range(50)]
    assert 50 <= min(levels) < 60
    assert 140 < max(levels) <= 150


def test_augmix_keeps_the_clean_view_and_mixes_two_different_ones():
    clean, first, second = AugMix()(image(), rng())
    assert torch.equal(clean, image() / 255)
    assert not torch.equal(first, clean)
    assert not torch.equal(first, second)


def test_augmix_without_colour_operations_leaves_a_flat_image_flat():
    # Shears and shifts blacken borders, and posterise, solarise, equalise and autocontrast are pointwise: the middle stays flat.
    flat = torch.full((3, 33, 33), 128, dtype=torch.uint8)
    for seed in range(10):
        middle = AugMix()(flat, rng(seed))[1][:, 15:18, 15:18]
        assert (middle.amax((1, 2)) - middle.amin((1, 2))).max() <= 1 / 255


def test_planckian_keeps_green_and_scales_red_and_blue():
    picture = image(size=(16, 16)) // 4  # dark enough that nothing is clipped
    for seed in range(10):
        out = PlanckianJitter(p=1.0)(picture, rng(seed))
        before = picture / 255
        torch.testing.assert_close(out[1], before[1], rtol=0, atol=0)
        for channel in (0, 2):
            scale = (out[channel] / before[channel])[before[channel] > 0]
            assert scale.max() - scale.min() < 1e-4


def test_planckian_probability():
    changed = sum(not torch.equal(PlanckianJitter(p=0.8)(image(), rng(seed)), image() / 255) for seed in range(100))
    assert 65 <= changed <= 92
    assert torch.equal(PlanckianJitter(p=0.0)(image(), rng()), image() / 255)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ColorJitter(), "does nothing"),
        (lambda: ColorJitter(hue=0.6), r"hue must lie in \[0, 0.5\], got 0.6"),
        (lambda: ColorJitter(brightness=-1), "brightness must lie in"),
        (lambda: AugMix(severity=11), r"severity must lie in \[1, 10\], got 11"),
        (lambda: AugMix(mixture_width=0), "mixture_width must be at least 1"),
        (lambda: AugMix(chain_depth=0), "chain_depth must be at least 1"),
        (lambda: AugMix(alpha=0), "alpha must be positive"),
        (lambda: PlanckianJitter("sun"), "mode must be one of blackbody, CIED"),
        (lambda: PlanckianJitter(p=2), r"p must lie in \[0, 1\], got 2"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
