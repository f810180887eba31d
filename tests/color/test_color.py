"""HSL and HSV: every 8-bit colour, conventions, ties, ranges, gradients, precisions."""

import colorsys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from t3cen.color import get_color_space, hsl_to_rgb, hsv_to_rgb, rgb_to_hsl, rgb_to_hsv

SPACES = {"hsl": (rgb_to_hsl, hsl_to_rgb), "hsv": (rgb_to_hsv, hsv_to_rgb)}
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-14}
spaces = pytest.mark.parametrize("space", list(SPACES))
dtypes = pytest.mark.parametrize("dtype", list(TOLERANCE))

# grey, black, white, primaries, ties of two maxima and of two minima, nearly grey, nearly black, nearly white
DIFFICULT = [
    *[(v, v, v) for v in (0.0, 0.2, 0.5, 1.0)],
    *[(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (0.5, 0.5, 0.2), (0.2, 0.7, 0.7), (0.6, 0.1, 0.6)],
    *[(0.5, 0.5, 0.5 + 6e-8), (0.5 + 1.2e-7, 0.5, 0.5), (1e-38, 0, 0), (1e-45, 0, 0), (1e-7, 0, 0), (3e-7, 0, 0)],
    *[(1 - 6e-8, 1, 1), (1, 1, 1 - 2.4e-7), (1, 0.3, 0.3 + 6e-8), (0.9, 0.1 + 1e-9, 0.1)],
]


def pixels(colors, dtype=torch.float64):
    """`(n, 3)` colours as one image `(3, 1, n)`."""
    return torch.tensor(colors, dtype=dtype).T[:, None].contiguous()


def eight_bit(first, last):
    """All 8-bit colours whose red is in [first, last), as bytes `(3, n, 65536)`."""
    red = torch.arange(first, last).view(-1, 1, 1).expand(-1, 256, 256)
    green = torch.arange(256).view(1, -1, 1).expand_as(red)
    blue = torch.arange(256).view(1, 1, -1).expand_as(red)
    return torch.stack([red, green, blue]).to(torch.uint8).flatten(2)


@spaces
def test_every_8_bit_colour_comes_back_as_the_same_bytes_in_float32(space):
    there, back = SPACES[space]
    for first in range(0, 256, 32):
        image = eight_bit(first, first + 32)
        encoded = there(image.float() / 255)
        assert encoded.dtype == torch.float32
        assert encoded.min() >= 0
        assert encoded[0].max() < 1
        assert encoded.max() <= 1
        assert torch.equal((back(encoded) * 255).round().to(torch.uint8), image)


@dtypes
def test_hsl_agrees_with_the_standard_library(dtype):
    colors = torch.rand(300, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).tolist()
    colors += [(r / 5, g / 5, b / 5) for r in range(6) for g in range(6) for b in range(6)]
    hls = torch.tensor([colorsys.rgb_to_hls(*c) for c in colors], dtype=dtype)
    hsv = torch.tensor([colorsys.rgb_to_hsv(*c) for c in colors], dtype=dtype)
    image = pixels(colors, dtype)
    torch.testing.assert_close(rgb_to_hsl(image)[:, 0].T, hls[:, [0, 2, 1]], atol=4 * TOLERANCE[dtype], rtol=0)
    torch.testing.assert_close(rgb_to_hsv(image)[:, 0].T, hsv, atol=4 * TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize(
    ("rgb", "hsl", "hsv"),
    [
        ((1, 0, 0), (0, 1, 0.5), (0, 1, 1)),
        ((1, 1, 0), (1 / 6, 1, 0.5), (1 / 6, 1, 1)),
        ((0, 1, 0), (1 / 3, 1, 0.5), (1 / 3, 1, 1)),
        ((0, 1, 1), (1 / 2, 1, 0.5), (1 / 2, 1, 1)),
        ((0, 0, 1), (2 / 3, 1, 0.5), (2 / 3, 1, 1)),
        ((1, 0, 1), (5 / 6, 1, 0.5), (5 / 6, 1, 1)),
        ((0, 0, 0), (0, 0, 0), (0, 0, 0)),
        ((1, 1, 1), (0, 0, 1), (0, 0, 1)),
        ((0.4, 0.4, 0.4), (0, 0, 0.4), (0, 0, 0.4)),
        ((0.75, 0.25, 0.25), (0, 0.5, 0.5), (0, 2 / 3, 0.75)),
    ],
)
@dtypes
def test_conventions(rgb, hsl, hsv, dtype):
    image = pixels([rgb], dtype)
    expected = torch.tensor([hsl, hsv], dtype=dtype)
    torch.testing.assert_close(rgb_to_hsl(image).flatten(), expected[0], atol=TOLERANCE[dtype], rtol=0)
    torch.testing.assert_close(rgb_to_hsv(image).flatten(), expected[1], atol=TOLERANCE[dtype], rtol=0)


@spaces
@given(colors=st.lists(st.tuples(*[st.floats(0, 1, width=32)] * 3), min_size=1, max_size=8), turns=st.integers(-3, 3))
def test_any_colour_comes_back_and_stays_in_range(space, colors, turns):
    there, back = SPACES[space]
    image = pixels(colors, torch.float32)
    encoded = there(image)
    assert encoded[0].max() < 1
    assert encoded.min() >= 0
    assert encoded[1:].max() <= 1
    decoded = back(encoded)
    assert decoded.min() >= 0
    assert decoded.max() <= 1
    torch.testing.assert_close(decoded, image, atol=1e-6, rtol=0)
    whole_turns = torch.tensor([turns, 0, 0], dtype=torch.float32)[:, None, None]
    torch.testing.assert_close(back(encoded + whole_turns), image, atol=5e-6, rtol=0)


@spaces
@dtypes
def test_forward_and_gradient_are_finite_at_difficult_colours(space, dtype):
    there, back = SPACES[space]
    image = pixels(DIFFICULT, dtype).requires_grad_()
    encoded = there(image)
    assert encoded.isfinite().all()
    assert encoded[0].max() < 1
    for channel in encoded:
        assert torch.autograd.grad(channel.sum(), image, retain_graph=True)[0].isfinite().all()
    assert torch.autograd.grad(back(encoded).sum(), image)[0].isfinite().all()


@spaces
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(space, dtype):
    there, back = SPACES[space]
    image = pixels(DIFFICULT, dtype).requires_grad_()
    encoded = there(image)
    assert encoded.dtype == torch.float32
    assert encoded.isfinite().all()
    assert torch.autograd.grad(encoded.sum(), image)[0].isfinite().all()
    image = torch.rand(3, 9, 9, generator=torch.Generator().manual_seed(0)).to(dtype)
    assert torch.equal(there(image), there(image.float()))
    assert back(encoded.to(dtype)).dtype == torch.float32


@spaces
def test_autocast_changes_nothing(space):
    there, back = SPACES[space]
    image = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", torch.bfloat16):
        encoded = there(image)
        decoded = back(encoded)
    assert torch.equal(encoded, there(image))
    assert torch.equal(decoded, back(encoded))


@spaces
def test_gradients_are_right(space):
    there, back = SPACES[space]
    generator = torch.Generator().manual_seed(1)
    image = torch.rand(3, 3, 4, dtype=torch.float64, generator=generator).requires_grad_()
    assert torch.autograd.gradcheck(there, image)
    assert torch.autograd.gradcheck(back, there(image).detach().requires_grad_())


@spaces
def test_any_leading_axes_the_input_untouched(space):
    there, back = SPACES[space]
    image = torch.rand(2, 5, 3, 4, 6, generator=torch.Generator().manual_seed(0))
    before = image.clone()
    encoded = there(image)
    assert encoded.shape == image.shape
    assert torch.equal(encoded[1, 2], there(image[1, 2]))
    back(encoded)
    assert torch.equal(image, before)
    assert there(image[:0]).shape == (0, 5, 3, 4, 6)


@spaces
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 4, 8, 8), (8, 8, 3)])
def test_wrong_shapes_say_so(space, shape):
    for function in SPACES[space]:
        with pytest.raises(ValueError, match=r"must have shape \(\.\.\., 3, H, W\), got"):
            function(torch.rand(shape))


@spaces
def test_integers_say_so(space):
    for function in SPACES[space]:
        with pytest.raises(ValueError, match=r"floating point, got torch.uint8; .*/ 255"):
            function(torch.zeros(3, 2, 2, dtype=torch.uint8))


@spaces
def test_traced_whole_by_the_compiler_is_the_same(space):
    there, back = SPACES[space]
    image = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    encoded = torch.compile(there, fullgraph=True, backend="aot_eager")(image)
    torch.testing.assert_close(encoded, there(image))
    torch.testing.assert_close(torch.compile(back, fullgraph=True, backend="aot_eager")(encoded), image)


def test_colour_spaces_have_names():
    assert get_color_space("hsv").from_rgb is rgb_to_hsv
    with pytest.raises(ValueError, match="unknown colour space 'lab'; choose from hsl, hsv"):
        get_color_space("lab")
