"""HSL lifting: the shifts it performs, its sheets, and the colours that lose their hue."""

import math

import pytest
import torch

from t3cen.color import hsl_to_rgb, hsv_to_rgb, rgb_to_hsl, rgb_to_hsv
from t3cen.groups import ColorGroup, ScaleGroup
from t3cen.nn import HSLLifting
from t3cen.ops import DECOMPOSITIONS


def hsl_image(hue, saturation, luminance):
    return hsl_to_rgb(torch.tensor([hue, saturation, luminance], dtype=torch.float64).view(1, 3, 1, 1))


def hsl_of(images):
    return rgb_to_hsl(images).flatten(-3)


def test_hue_steps_are_fractions_of_a_turn():
    lifted = HSLLifting(ColorGroup(hue=3))(torch.tensor([1.0, 0, 0]).view(1, 3, 1, 1))
    torch.testing.assert_close(lifted[0, :, :, 0, 0], torch.eye(3))


@pytest.mark.parametrize(("axis", "orders"), [(1, (1, 4, 1)), (2, (1, 1, 4))])
@pytest.mark.parametrize(
    ("value", "lifted"), [(0.3, [0.3, 0.8, 0.7, 0.2]), (0.8, [0.8, 0.7, 0.2, 0.3]), (0.7, [0.7, 0.8, 0.3, 0.2])]
)
def test_saturation_and_luminance_of_order_four_move_by_half_and_fold(axis, orders, value, lifted):
    color = [0.1, 0.6, 0.4]
    color[axis] = value
    images = HSLLifting(ColorGroup(*orders))(hsl_image(*color))[0]
    seen = torch.stack([hsl_of(image) for image in images])
    torch.testing.assert_close(seen[:, axis], torch.tensor(lifted, dtype=torch.float64))
    for other in {0, 1, 2} - {axis}:
        torch.testing.assert_close(seen[:, other], torch.full((4,), color[other], dtype=torch.float64))


def test_product_elements_are_row_major():
    images = HSLLifting(ColorGroup(2, 1, 4))(hsl_image(0.1, 0.6, 0.3))[0]
    seen = torch.stack([hsl_of(image) for image in images])
    torch.testing.assert_close(seen[:, 0], torch.tensor([0.1] * 4 + [0.6] * 4, dtype=torch.float64))
    torch.testing.assert_close(seen[:, 2], torch.tensor([0.3, 0.8, 0.7, 0.2] * 2, dtype=torch.float64))


def test_hsv_moves_the_value_and_keeps_its_saturation():
    rgb = hsv_to_rgb(torch.tensor([0.1, 0.6, 0.3], dtype=torch.float64).view(1, 3, 1, 1))
    images = HSLLifting(ColorGroup(luminance=4), color_space="hsv")(rgb)[0]
    seen = torch.stack([rgb_to_hsv(image).flatten(-3) for image in images])
    torch.testing.assert_close(seen[:, 2], torch.tensor([0.3, 0.8, 0.7, 0.2], dtype=torch.float64))
    torch.testing.assert_close(seen[:, 1], torch.full((4,), 0.6, dtype=torch.float64))


@pytest.mark.parametrize("cover", ["triangle", "sine", "half_sine"])
def test_angles_are_turns_on_the_principal_branch(cover):
    rgb = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    hue, saturation, luminance = HSLLifting(ColorGroup(4), cover).encode(rgb).unbind(1)
    assert 0 <= hue.min() <= hue.max() < 1
    first, last = (-0.25, 0.25) if cover == "sine" else (0, 0.5)
    for angle in (saturation, luminance):
        assert first <= angle.min() <= angle.max() <= last


def test_each_axis_has_its_own_cover_as_the_paper_prints_them():
    """Saturation along c/2 + c/2 sin, luminance along c sin(theta/2): a step of order 4 by hand."""
    images = HSLLifting(ColorGroup(saturation=4), "sine+half_sine")(hsl_image(0.1, 0.3, 0.6))[0]
    angle = math.asin(2 * 0.3 - 1)
    expected = [0.5 + 0.5 * math.sin(angle + k * math.pi / 2) for k in range(4)]
    torch.testing.assert_close(
        torch.stack([hsl_of(image) for image in images])[:, 1], torch.tensor(expected, dtype=torch.float64)
    )
    images = HSLLifting(ColorGroup(luminance=4), "sine+half_sine")(hsl_image(0.1, 0.3, 0.6))[0]
    angle = 2 * math.asin(0.6)
    expected = [math.sin(((angle + k * math.pi / 2) % (2 * math.pi)) / 2) for k in range(4)]
    torch.testing.assert_close(
        torch.stack([hsl_of(image) for image in images])[:, 2], torch.tensor(expected, dtype=torch.float64)
    )


def test_more_covers_than_axes_are_refused():
    with pytest.raises(ValueError, match="2 names at most, got 'sine\\+sine\\+sine'"):
        HSLLifting(ColorGroup(4), "sine+sine+sine")
    with pytest.raises(ValueError, match="unknown cover ''"):
        HSLLifting(ColorGroup(4), "sine+")


def test_a_pixel_changes_sheet_exactly_when_it_passes_an_end():
    lifting = HSLLifting(ColorGroup(saturation=4))
    angles = lifting.encode(torch.cat([hsl_image(0.1, s, 0.4) for s in (0.1, 0.3, 0.45, 0.55, 0.9)], -1))
    assert lifting.off_sheet(angles).sum() == 0
    # one step of order 4 lifts saturation by 0.5: those above 0.5 fold at 1
    assert lifting.off_sheet(lifting.act(angles, (0, 1, 0))).flatten().tolist() == [False, False, False, True, True]
    assert lifting.sheet_changes(angles, (0, 1, 0)) == pytest.approx(2 / 5)
    # half a step lifts it by 0.25
    assert lifting.sheet_changes(angles, (0, 0.5, 0)) == pytest.approx(1 / 5)
    # one step down: those below 0.5 fold at 0
    assert lifting.sheet_changes(angles, (0, -1, 0)) == pytest.approx(3 / 5)
    assert lifting.sheet_changes(angles, (0, 2, 0)) == 1
    assert lifting.sheet_changes(angles, (0, 4, 0)) == 0


@pytest.mark.parametrize("cover", ["triangle", "sine", "half_sine"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_encoded_image_has_changed_no_sheet(cover, dtype):
    rgb = torch.rand(1, 3, 64, 64, dtype=dtype, generator=torch.Generator().manual_seed(0))
    rgb[..., :4] = rgb[..., :4].round()  # primaries, black and white: both ends of both covers
    for space in ("hsl", "hsv"):
        lifting = HSLLifting(ColorGroup(2, 3, 4), cover, space)
        assert lifting.sheet_changes(lifting.encode(rgb), (0, 0, 0)) == 0


def test_through_an_image_the_lifted_function_rolls_where_no_sheet_changes_and_reverses_where_it_does():
    lifting = HSLLifting(ColorGroup(luminance=4))
    for luminance, exact in ((0.3, True), (0.7, False)):
        angles = lifting.encode(hsl_image(0.1, 0.6, luminance))
        through_image = lifting(lifting.decode(lifting.act(angles, (0, 0, 1))))
        rolled = lifting.group.act(lifting.lift(angles), (0, 0, 1))
        assert (lifting.sheet_changes(angles, (0, 0, 1)) == 0) is exact
        assert torch.allclose(through_image, rolled) is exact
        if not exact:  # the orbit of the same pixels, run through the other way
            torch.testing.assert_close(through_image, rolled[:, [0, 3, 2, 1]])


def test_hue_survives_grey_in_angles_but_not_in_the_image():
    lifting = HSLLifting(ColorGroup(saturation=4, luminance=4))
    angles = lifting.encode(hsl_image(0.3, 0.5, 0.5))
    for element in ((0, -1, 0), (0, 0, 1), (0, 0, -1)):  # to grey, to white, to black
        moved = lifting.act(angles, element)
        assert lifting.undefined_hue(moved).all()
        assert lifting.hue_losses(angles, element) == 1
        torch.testing.assert_close(lifting.decode(lifting.act(moved, [-e for e in element])), lifting.decode(angles))
        assert lifting.encode(lifting.decode(moved))[0, 0] == 0
    assert lifting.hue_losses(angles, (0, 0, 0)) == 0
    assert lifting.hue_losses(lifting.encode(torch.full((1, 3, 2, 2), 0.5)), (0, 0, 0)) == 1


def test_needs_three_factors_and_a_known_space():
    with pytest.raises(ValueError, match="HSLLifting needs a group of three factors, got 1"):
        HSLLifting(ScaleGroup(4))
    with pytest.raises(ValueError, match="unknown colour space 'lab'; choose from hsl, hsv"):
        HSLLifting(ColorGroup(4), color_space="lab")


@pytest.mark.slow
def test_compiled_to_machine_code_is_the_same():
    lifting = HSLLifting(ColorGroup(2, 3, 4))
    rgb = torch.rand(2, 3, 8, 6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    compiled = torch.compile(lifting, fullgraph=True)
    torch.testing.assert_close(compiled(rgb), lifting(rgb), atol=2e-6, rtol=0)
    with pytest.raises(ValueError, match=r"RGB values must lie in \[0, 1\]"):
        compiled((rgb + 1).detach().requires_grad_())


@pytest.mark.slow
def test_onnx_with_a_dynamic_batch(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    lifting = HSLLifting(ColorGroup(2, 3, 4), "sine").eval()
    rgb = torch.rand(5, 3, 8, 6, generator=torch.Generator().manual_seed(0))
    traced = torch.export.export(lifting, (rgb[:2],), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    program = torch.onnx.export(traced.run_decompositions(DECOMPOSITIONS), (), dynamo=True, verbose=False)
    program.save(str(tmp_path / "lifting.onnx"))
    session = onnxruntime.InferenceSession(str(tmp_path / "lifting.onnx"), providers=["CPUExecutionProvider"])
    (lifted,) = session.run(None, {session.get_inputs()[0].name: rgb.numpy()})
    torch.testing.assert_close(torch.from_numpy(lifted), lifting(rgb), atol=1e-5, rtol=0)
