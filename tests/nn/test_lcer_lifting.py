"""LCER's lifting: hue exact, saturation and luminance clipped, and the 8-bit reference mode."""

import numpy as np
import pytest
import torch
from PIL import Image

from t3cen.color import hsl_to_rgb, rgb_to_hsl, rgb_to_hsv
from t3cen.groups import ColorGroup
from t3cen.nn import LCERLifting


def image(seed=0, dtype=torch.float32, size=(6, 5)):
    return torch.rand(2, 3, *size, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def one_colour(*hsl):
    return hsl_to_rgb(torch.tensor(hsl).view(1, 3, 1, 1))


@pytest.mark.parametrize("color_space", ["hsl", "hsv"])
@pytest.mark.parametrize("name", ["h1", "h4", "s3", "s5", "l3", "h3s3", "h2l5"])
def test_every_element_is_the_image_acted_on(name, color_space):
    group = ColorGroup.parse(name)
    lifting = LCERLifting(group, color_space=color_space)
    angles = lifting.encode(image())
    expected = [
        lifting.decode(lifting.act(angles, (i, j - group.orders[1] // 2, k - group.orders[2] // 2)))
        for i, j, k in group.elements()
    ]
    torch.testing.assert_close(lifting(image()), torch.stack(expected, 1), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("order", "offsets"), [(3, [-0.5, 0, 0.5]), (5, [-0.5, -0.25, 0, 0.25, 0.5])])
@pytest.mark.parametrize("axis", [1, 2])
def test_offsets_lie_around_the_image_and_clip(order, offsets, axis):
    group = ColorGroup(1, order) if axis == 1 else ColorGroup(1, 1, order)
    value = 0.4
    hsl = rgb_to_hsl(LCERLifting(group)(one_colour(0.3, *((value, 0.5) if axis == 1 else (0.5, value))))[0])
    expected = torch.tensor(offsets).add(value).clamp(0, 1)
    torch.testing.assert_close(hsl[:, axis].flatten(), expected)


def test_frac_space_narrows_the_offsets():
    hsl = rgb_to_hsl(LCERLifting(ColorGroup(1, 3), frac_space=0.2)(one_colour(0.3, 0.4, 0.5))[0])
    torch.testing.assert_close(hsl[:, 1].flatten(), torch.tensor([0.3, 0.4, 0.5]))


@pytest.mark.parametrize("mode", ["float", "pil8"])
def test_one_step_is_one_part_in_the_order_less_one(mode):
    # Paper, appendix: "lowered by 1/(M-1), to match the lifting of LCER".
    lifting = LCERLifting(ColorGroup(1, 5), mode=mode)
    angles = torch.tensor([0.3, 0.6, 0.5]).view(1, 3, 1, 1)
    assert lifting.act(angles, (0, -1, 0))[0, 1].item() == pytest.approx(0.35, abs=0.003)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_exact_in_hue(dtype):
    group = ColorGroup(5, 3)
    lifting = LCERLifting(group)
    angles = lifting.encode(image(dtype=dtype))
    tolerance = 100 * torch.finfo(dtype).eps
    for step in range(5):
        moved = lifting.lift(lifting.act(angles, (step, 0, 0)))
        torch.testing.assert_close(moved, group.act(lifting.lift(angles), (step, 0, 0)), rtol=0, atol=tolerance)


def test_saturation_moves_the_elements_along_until_they_clip():
    group = ColorGroup(1, 5)
    lifting = LCERLifting(group)
    angles = lifting.encode(one_colour(0.3, 0.5, 0.5))  # moved by up to half the range: nothing clips
    here, moved = lifting.lift(angles), lifting.lift(lifting.act(angles, (0, 1, 0)))
    torch.testing.assert_close(moved[:, :4], here[:, 1:])
    assert (moved[:, 4] - here[:, 0]).abs().max() > 0.1  # what came in is not what a cycle would bring


def test_clipping_loses_the_image():
    lifting = LCERLifting(ColorGroup(1, 5))
    angles = lifting.encode(one_colour(0.3, 0.4, 0.5))
    down = lifting.act(angles, (0, -3, 0))
    assert lifting.act(down, (0, 3, 0))[0, 1].item() == pytest.approx(0.75)  # 0.4 - 0.75 clips to 0, then + 0.75


def loader(rgb8, hues, steps, axis, frac_space):
    """The published data loader, on one `(H, W, 3)` uint8 image: a list of uint8 images, hue slowest."""
    hsv = np.array(Image.fromarray(rgb8).convert("HSV"))
    lifted = []
    for i in range(hues):
        for j in range(steps):
            moved = hsv.copy()
            moved[..., 0] = hsv[..., 0] + np.uint8(i * 256 // hues)
            reach = steps // 2
            offset = int((j - reach) / reach * 128 * frac_space) if reach else 0
            moved[..., axis] = np.clip(hsv[..., axis].astype(int) + offset, 0, 255)
            image = Image.frombytes("HSV", (moved.shape[1], moved.shape[0]), moved.tobytes())
            lifted.append(np.array(image.convert("RGB")))
    return lifted


@pytest.mark.parametrize(("name", "axis"), [("h3", 1), ("h4", 1), ("s3", 1), ("l5", 2), ("h3s5", 1), ("h4l3", 2)])
@pytest.mark.parametrize("frac_space", [1.0, 0.2])
def test_reference_mode_is_the_published_loader_to_the_byte(name, axis, frac_space):
    group = ColorGroup.parse(name)
    rgb = image(size=(32, 33))
    lifted = LCERLifting(group, frac_space=frac_space, mode="pil8")(rgb)
    levels = (lifted * 255).round().byte()
    for b in range(2):
        rgb8 = (rgb[b] * 255).round().byte().permute(1, 2, 0).numpy()
        expected = loader(rgb8, group.orders[0], group.orders[axis], axis, frac_space)
        got = levels[b].permute(0, 2, 3, 1).numpy()
        np.testing.assert_array_equal(got, np.stack(expected))


def test_reference_mode_loses_grey_levels_and_float_does_not():
    x = image(size=(32, 32))
    error = {mode: (LCERLifting(ColorGroup(3), mode=mode)(x)[:, 0] - x).abs().max() * 255 for mode in ("float", "pil8")}
    assert error["float"] < 1e-3
    assert error["pil8"] > 1


def test_gradients_are_finite_at_grey_black_and_white():
    x = torch.tensor([0.0, 0.5, 1.0]).view(1, 1, 1, 3).expand(1, 3, 2, 3).clone().requires_grad_()
    LCERLifting(ColorGroup(4, 3))(x).square().sum().backward()
    assert x.grad.isfinite().all()


def test_stays_in_float32_under_autocast():
    with torch.autocast("cpu", torch.bfloat16):
        assert LCERLifting(ColorGroup(3))(image()).dtype == torch.float32


def test_hsv_moves_the_value():
    lifted = LCERLifting(ColorGroup(1, 1, 3), color_space="hsv", frac_space=0.2)(one_colour(0.3, 0.4, 0.5))
    value = rgb_to_hsv(lifted[0])[:, 2].flatten()
    torch.testing.assert_close(value, torch.tensor([0.6, 0.7, 0.8]))


@pytest.mark.parametrize(
    ("group", "options", "message"),
    [
        (ColorGroup(1, 4), {}, "odd saturation order.*got 4"),
        (ColorGroup(1, 1, 2), {}, "odd luminance order.*got 2"),
        (ColorGroup(1, 3, 3), {}, "does not support saturation and luminance together"),
        (ColorGroup(3), {"mode": "8bit"}, "mode must be one of float, pil8"),
        (ColorGroup(3), {"color_space": "lab"}, "unknown colour space 'lab'"),
        (ColorGroup(3), {"mode": "pil8", "color_space": "hsl"}, "set color_space='hsv'"),
        (ColorGroup(3), {"frac_space": 0.0}, r"frac_space must lie in \(0, 1\], got 0.0"),
    ],
)
def test_bad_arguments(group, options, message):
    with pytest.raises(ValueError, match=message):
        LCERLifting(group, **options)


@pytest.mark.parametrize("bad", [image() + 1, image()[:, :2], (image() * 255).byte(), image() * float("nan")])
def test_bad_images(bad):
    with pytest.raises(ValueError, match=r"\[0, 1\]|channels"):
        LCERLifting(ColorGroup(3))(bad)


def test_wrong_number_of_steps():
    lifting = LCERLifting(ColorGroup(3))
    with pytest.raises(ValueError, match=r"2 steps in .* 3 expected"):
        lifting.act(lifting.encode(image()), (1, 0))


def test_grey_pixels_have_no_hue():
    x = torch.tensor([0.5, 0.5, 0.5, 0.5, 0.2, 0.1]).view(1, 2, 3).permute(0, 2, 1)[..., None]
    lifting = LCERLifting(ColorGroup(3, 3))
    assert lifting.undefined_hue(lifting.encode(x)).flatten().tolist() == [True, False]
