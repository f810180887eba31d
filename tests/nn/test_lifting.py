"""What holds for every lifting: it commutes with the group, checks its input, and survives copying, compiling and export."""

import copy
import pickle

import pytest
import torch
from torch.export import Dim

from t3cen.groups import ColorGroup, LightGroup, RGBGroup, ScaleGroup
from t3cen.nn import GrayLifting, HSLLifting, IdentityLifting, LightLifting, RGBLifting, ScaleLifting

TOLERANCE = {torch.float32: 4e-6, torch.float64: 2e-14}
COVERS = ("triangle", "sine", "half_sine")
UNEQUAL = (2, 3, 4)
AXES = ((3, 1, 1), (1, 3, 1), (1, 1, 3), (4, 1, 1), (1, 4, 1), (1, 1, 4), (5, 2, 1), UNEQUAL)

LIFTINGS = [
    *[HSLLifting(ColorGroup(*orders), cover, space) for orders in AXES for cover in COVERS for space in ("hsl", "hsv")],
    *[HSLLifting(ColorGroup(*orders), "sine+half_sine") for orders in ((1, 3, 4), UNEQUAL)],
    *[RGBLifting(RGBGroup(*orders), cover) for orders in AXES for cover in COVERS],
    *[ScaleLifting(ScaleGroup(order), cover) for order in (1, 3, 4, 8) for cover in COVERS],
    IdentityLifting(),
    GrayLifting(),
]
KINDS = [
    HSLLifting(ColorGroup(*UNEQUAL)),
    HSLLifting(ColorGroup(*UNEQUAL), "sine", "hsv"),
    RGBLifting(RGBGroup(*UNEQUAL), "half_sine"),
    ScaleLifting(ScaleGroup(4)),
    IdentityLifting(),
    GrayLifting(),
    LightLifting(LightGroup(*UNEQUAL)),
]
every = pytest.mark.parametrize("lifting", LIFTINGS, ids=repr)
kinds = pytest.mark.parametrize("lifting", KINDS, ids=repr)
dtypes = pytest.mark.parametrize("dtype", list(TOLERANCE))

EXTREMES = [[0.0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0.3, 0.3, 0.31], [1e-7, 0, 0]]


def images(batch=2, height=8, width=6, dtype=torch.float64, seed=0):
    return torch.rand(batch, 3, height, width, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def extremes(dtype):
    """Grey, black, white, primaries and nearly undefined colours, as a 1x8 image."""
    return torch.tensor(EXTREMES, dtype=dtype).T[None, :, None]


@every
@dtypes
def test_lifting_commutes_with_every_element(lifting, dtype):
    group = lifting.group
    angles = lifting.encode(images(dtype=dtype))
    lifted = lifting.lift(angles)
    assert lifted.shape == (2, group.order, 3, 8, 6)
    assert lifted.dtype == dtype
    for element in group.elements():
        moved = lifting.lift(lifting.act(angles, element))
        torch.testing.assert_close(moved, group.act(lifted, element), atol=TOLERANCE[dtype], rtol=0)


@every
def test_lifting_is_every_element_decoded(lifting):
    rgb = images()
    angles = lifting.encode(rgb)
    stacked = torch.stack([lifting.decode(lifting.act(angles, element)) for element in lifting.group.elements()], 1)
    torch.testing.assert_close(lifting(rgb), stacked, atol=1e-14, rtol=0)


@every
@dtypes
def test_the_first_element_is_the_image_itself(lifting, dtype):
    for rgb in (images(dtype=dtype), extremes(dtype)):
        seen = lifting(rgb)[:, 0]
        torch.testing.assert_close(lifting.decode(lifting.encode(rgb)), seen, atol=TOLERANCE[dtype], rtol=0)
        if not isinstance(lifting, GrayLifting):
            torch.testing.assert_close(seen, rgb, atol=TOLERANCE[dtype], rtol=0)


@kinds
def test_actions_add_up_and_whole_turns_do_nothing(lifting):
    angles = lifting.encode(images())
    once = (1,) * len(lifting.group.orders)
    twice = lifting.act(lifting.act(angles, once), once)
    torch.testing.assert_close(lifting.decode(twice), lifting.decode(lifting.act(angles, [2 * e for e in once])))
    torch.testing.assert_close(lifting.decode(lifting.act(angles, lifting.group.orders)), lifting.decode(angles))
    back = lifting.act(lifting.act(angles, once), [-e for e in once])
    torch.testing.assert_close(lifting.decode(back), lifting.decode(angles))


@pytest.mark.parametrize("lifting", KINDS[:4], ids=repr)
def test_half_steps_add_up_to_a_step(lifting):
    angles = lifting.encode(images())
    half = (0.5,) * len(lifting.group.orders)
    whole = (1,) * len(lifting.group.orders)
    twice = lifting.act(lifting.act(angles, half), half)
    torch.testing.assert_close(lifting.decode(twice), lifting.decode(lifting.act(angles, whole)))
    assert not torch.allclose(lifting.decode(lifting.act(angles, half)), lifting.decode(angles), atol=1e-3)


@kinds
def test_values_stay_in_range_and_the_input_is_untouched(lifting):
    for rgb in (images(dtype=torch.float32), extremes(torch.float32)):
        before = rgb.clone()
        lifted = lifting(rgb)
        assert lifted.min() >= -1e-6
        assert lifted.max() <= 1 + 1e-6
        angles = lifting.encode(rgb)
        kept = angles.clone()
        decoded = lifting.decode(lifting.act(angles, (1,) * len(lifting.group.orders)))
        assert 0 <= decoded.min() <= decoded.max() <= 1
        lifting.lift(angles)
        assert torch.equal(angles, kept)
        assert torch.equal(rgb, before)


@every
@dtypes
def test_gradients_are_finite_at_extreme_colours(lifting, dtype):
    rgb = extremes(dtype).requires_grad_()
    weights = torch.linspace(-1, 2, lifting(rgb).numel(), dtype=dtype).view_as(lifting(rgb))
    (gradient,) = torch.autograd.grad((lifting(rgb) * weights).sum(), rgb)
    assert gradient.isfinite().all()
    angles = lifting.encode(rgb.detach()).requires_grad_()
    (gradient,) = torch.autograd.grad((lifting.lift(angles) * weights).sum(), angles)
    assert gradient.isfinite().all()


@kinds
def test_gradients_are_right(lifting):
    rgb = (0.05 + 0.9 * images(1, 2, 2, seed=3)).requires_grad_()
    assert torch.autograd.gradcheck(lifting, rgb)


@kinds
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_float32_whatever_the_trainer_does(lifting, dtype):
    rgb = images(dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(lifting(rgb), lifting(rgb.clone()))
        under_autocast = lifting(rgb)
    assert torch.equal(under_autocast, lifting(rgb))
    assert lifting(rgb.to(dtype)).dtype == torch.float32
    assert torch.equal(lifting(rgb.to(dtype)), lifting(rgb.to(dtype).float()))


@kinds
@pytest.mark.parametrize("shape", [(1, 3, 1, 1), (1, 3, 5, 3), (3, 3, 2, 7), (0, 3, 4, 4)])
def test_any_size(lifting, shape):
    generator = torch.Generator().manual_seed(0)
    assert lifting(torch.rand(shape, generator=generator)).shape == (shape[0], lifting.group.order, *shape[1:])


@kinds
@pytest.mark.parametrize(
    ("rgb", "message"),
    [
        (torch.full((1, 3, 2, 2), 1.5), r"must lie in \[0, 1\], got \[1.5, 1.5\]; divide 8-bit images by 255"),
        (torch.full((1, 3, 2, 2), -0.1), r"must lie in \[0, 1\], got \[-0.1, -0.1\]"),
        (torch.full((1, 3, 2, 2), float("inf")), r"must lie in \[0, 1\], got \[inf, inf\]"),
        (torch.tensor([0.5, 0.5, float("nan")]).view(1, 3, 1, 1), r"NaN; RGB values in \[0, 1\] expected"),
        (torch.zeros(1, 3, 2, 2, dtype=torch.uint8), r"floats in \[0, 1\], got torch.uint8; .*/ 255"),
        (torch.zeros(1, 1, 2, 2), r"1 channels in \(1, 1, 2, 2\), 3 \(red, green, blue\) expected"),
        (torch.zeros(1, 2, 2, 3), r"2 channels in \(1, 2, 2, 3\), 3"),
        (torch.zeros(3, 2, 2), r"shape \(B, 3, H, W\), got 3 axes: \(3, 2, 2\)"),
    ],
    ids=["above", "below", "infinite", "nan", "uint8", "grey", "channels last", "no batch"],
)
def test_bad_images_get_one_clear_error(lifting, rgb, message):
    for function in (lifting, lifting.encode):
        with pytest.raises(ValueError, match=message):
            function(rgb)


@kinds
def test_a_rounding_error_outside_the_range_is_tolerated(lifting):
    rgb = images(dtype=torch.float32)
    slightly = rgb.clone()
    slightly[0, :, 0, 0] = torch.tensor([1 + 5e-6, -5e-6, 0.5])
    rgb[0, :, 0, 0] = torch.tensor([1, 0, 0.5])
    torch.testing.assert_close(lifting(slightly), lifting(rgb))


@kinds
def test_the_wrong_number_of_steps_says_both_numbers(lifting):
    factors = len(lifting.group.orders)
    with pytest.raises(ValueError, match=rf"{factors + 1} steps in .*, {factors} expected by"):
        lifting.act(lifting.encode(images()), (0,) * (factors + 1))


@kinds
def test_nothing_to_save_and_copies_are_equal(lifting):
    rgb = images()
    assert lifting.state_dict() == {}
    for twin in (copy.deepcopy(lifting), pickle.loads(pickle.dumps(lifting))):
        assert torch.equal(twin(rgb), lifting(rgb))
        assert repr(twin) == repr(lifting)


@kinds
def test_repr_says_what_goes_in_and_out(lifting):
    assert f"(B, 3, H, W) -> (B, {lifting.group.order}, 3, H, W)" in repr(lifting)


@kinds
def test_channels_last_is_the_same(lifting):
    rgb = images()
    assert torch.equal(lifting(rgb.to(memory_format=torch.channels_last)), lifting(rgb))


@pytest.mark.fast("*triangle, color_space=hsl*", "LightLifting*")
@kinds
def test_exported_with_a_dynamic_batch(lifting):
    program = torch.export.export(lifting, (images(2),), dynamic_shapes=({0: Dim.DYNAMIC},)).module()
    for batch in (2, 5):
        torch.testing.assert_close(program(images(batch, seed=1)), lifting(images(batch, seed=1)))
    with pytest.raises(ValueError, match=r"RGB values must lie in \[0, 1\]"):
        program(images() + 1)


@pytest.mark.fast("*triangle, color_space=hsl*", "LightLifting*")
@kinds
def test_traced_whole_by_the_compiler(lifting):
    compiled = torch.compile(lifting, fullgraph=True, backend="aot_eager")
    rgb = images().requires_grad_()
    torch.testing.assert_close(compiled(rgb), lifting(rgb))
    gradients = [torch.autograd.grad(f(rgb).square().sum(), rgb)[0] for f in (compiled, lifting)]
    torch.testing.assert_close(*gradients)
    with pytest.raises(ValueError, match=r"RGB values must lie in \[0, 1\]"):
        compiled((images() + 1).requires_grad_())


@pytest.mark.parametrize("kind", [HSLLifting, RGBLifting, ScaleLifting])
def test_constructors_explain_themselves(kind):
    with pytest.raises(ValueError, match="unknown cover 'cosine'; choose from triangle, sine, half_sine"):
        kind(ColorGroup(4), "cosine")
    with pytest.raises(ValueError, match=rf"{kind.__name__} needs a group such as ColorGroup\(hue=4\), got 4"):
        kind(4)
