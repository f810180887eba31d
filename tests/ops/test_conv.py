"""Compiled convolution in groups: PyTorch's own, to rounding, whichever way it goes."""

import ctypes
import platform
import subprocess
import sys
from typing import NamedTuple

import pytest
import torch
from torch.nn import functional as F

from t3cen.ops import kernels
from t3cen.ops.cpu import build, conv
from t3cen.ops.geometry import ConvGeometry


class Shape(NamedTuple):
    """Of a convolution in groups; channels are those of a group."""

    groups: int
    inputs: int
    outputs: int
    batch: int
    height: int
    width: int
    stride: int


BOTH = (True, True)
LANES = ctypes.c_int.in_dll(conv._compiled(), "lanes").value
SHAPES = [
    # Few channels, along the rows: two vectors of a row, one and the next row's, a block that is not full.
    Shape(3, 8, 8, 2, 4, 32, 1),
    Shape(3, 3, 5, 2, 6, 16, 1),
    # Winograd: channels that fill vectors and panels or not, tiles that hang over, one place, many images, long rows.
    Shape(3, 16, 16, 2, 8, 8, 1),
    Shape(2, 9, 31, 3, 7, 5, 1),
    Shape(2, 33, 17, 3, 13, 1, 1),
    Shape(5, 64, 70, 2, 2, 33, 1),
    Shape(1, 70, 64, 40, 4, 4, 1),
    Shape(2, 20, 100, 1, 1, 1, 1),
    # Every second place.
    Shape(3, 16, 32, 2, 8, 8, 2),
    Shape(2, 33, 70, 3, 7, 5, 2),
    Shape(1, 100, 9, 1, 1, 1, 2),
]


@pytest.fixture(autouse=True)
def compiled():
    """A machine that tests compiled code has a compiler."""
    kernels.use("on")
    yield
    kernels.use("auto")


def tensors(shape):
    generator = torch.Generator().manual_seed(0)
    maps = torch.randn(shape.batch, shape.groups * shape.inputs, shape.height, shape.width, generator=generator)
    filters = torch.randn(shape.groups * shape.outputs, shape.inputs, 3, 3, generator=generator)
    return maps, filters


def taken(shape, lasting=False):
    geometry = ConvGeometry((shape.stride, shape.stride), (1, 1))
    return conv.takes(*tensors(shape), shape.groups, geometry, lasting)


def forward(maps, filters, shape, packed=None):
    return conv.forward(maps, filters, shape.groups, shape.stride, packed)


def backward(gradient, maps, filters, shape, needed=BOTH):
    return conv.backward(gradient, maps, filters, shape.groups, shape.stride, needed)


def errors(shape):
    """Largest errors of the result, with filters and packed filters, and of the gradients, over their largest values."""
    maps, filters = tensors(shape)
    exact = [t.double().requires_grad_() for t in (maps, filters)]
    want = F.conv2d(*exact, None, shape.stride, 1, 1, shape.groups)
    gradient = torch.randn(want.shape, generator=torch.Generator().manual_seed(1))
    wants = [want, want, *torch.autograd.grad(want, exact, gradient.double())]
    packed = conv.pack(filters, shape.groups)
    results = [forward(maps, filters, shape), forward(maps, filters, shape, packed)]
    results += backward(gradient, maps, filters, shape)
    assert [r.shape for r in results] == [w.shape for w in wants]
    return [float(((r - w).abs().max() / w.abs().max()).detach()) for r, w in zip(results, wants, strict=True)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_pytorch_forwards_and_backwards(shape):
    assert max(errors(shape)) < 3e-6


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        (Shape(3, 8, 8, 2, 32, 32, 1), True),
        (Shape(3, 8, 8, 2, 33, 33, 1), LANES < 16),
        (Shape(3, LANES // 2, 100, 2, 32, 33, 1), LANES < 16),
        (Shape(3, LANES // 2 + 1, 100, 2, 32, 33, 1), True),
        (Shape(3, LANES // 2, 100, 2, 32, 32, 2), False),
        (Shape(3, LANES // 2 + 1, 100, 2, 32, 32, 2), True),
        (Shape(3, 64, 64, 1, 4, 4, 1), True),
    ],
    ids=str,
)
def test_which_shapes_are_taken(shape, wanted):
    assert taken(shape) == wanted
    assert taken(shape, lasting=True)
    assert not taken(shape._replace(batch=0), lasting=True)


def test_switched_off_or_without_a_compiler(monkeypatch):
    kernels.use("off")
    assert not taken(SHAPES[0], lasting=True)
    conv._library.cache_clear()
    monkeypatch.setattr(build, "_library", lambda *args: "no compiler")
    kernels.use("on")
    with pytest.raises(build.UnavailableError, match="kernels are 'on': no compiler"):
        taken(SHAPES[0])
    kernels.use("auto")
    monkeypatch.setattr(build, "_warned", [])
    with pytest.warns(UserWarning, match="no compiler"):
        assert not taken(SHAPES[0], lasting=True)
    conv._library.cache_clear()


def test_only_what_is_needed_is_made():
    maps, filters = tensors(SHAPES[2])
    gradient = forward(maps, filters, SHAPES[2])
    for needed in [(True, False), (False, True)]:
        made = backward(gradient, maps, filters, SHAPES[2], needed)
        assert tuple(t is not None for t in made) == needed


@pytest.mark.parametrize(
    "shape",
    [
        Shape(7, 8, 8, 3, 8, 32, 1),
        Shape(7, 16, 16, 3, 32, 32, 1),
        Shape(1, 70, 70, 3, 32, 32, 2),
    ],
    ids=str,
)
def test_threads_and_other_images_change_no_bit(shape):
    maps, filters = tensors(shape)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 16):
            torch.set_num_threads(threads)
            packed = conv.pack(filters, shape.groups)
            out = forward(maps, filters, shape)
            backwards = backward(out, maps, filters, shape)
            results.append([packed, out, forward(maps, filters, shape, packed), *backwards])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for result in results[1:] for a, b in zip(result, results[0], strict=True))
    alone = shape._replace(batch=1)
    assert torch.equal(forward(maps[1:2], filters, alone), out[1:2])
    assert torch.equal(forward(maps[1:2], filters, alone, packed), out[1:2])


@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[2]], ids=str)
def test_tensors_laid_out_otherwise(shape):
    maps, filters = tensors(shape)
    want = forward(maps, filters, shape)
    other = maps.contiguous(memory_format=torch.channels_last), filters.contiguous(memory_format=torch.channels_last)
    assert torch.equal(forward(*other, shape), want)
    assert torch.equal(conv.pack(other[1], shape.groups), conv.pack(filters, shape.groups))
    gradient = want.contiguous(memory_format=torch.channels_last)
    wants = backward(want, maps, filters, shape)
    assert all(map(torch.equal, backward(gradient, *other, shape), wants))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("channels", "size", "stride"), [(8, 32, 1), (16, 9, 1), (16, 4, 1), (16, 9, 2)])
def test_no_number_of_another_image_or_group_comes_in(channels, size, stride, packed):
    """What is not finite stays in its image and group; a product with a zero in the place of nothing would spread it."""
    shape = Shape(3, channels, channels, 2, size, size, stride)
    maps, filters = tensors(shape)
    maps[0, channels : 2 * channels], maps[1, :channels] = float("nan"), float("inf")
    out = forward(maps, filters, shape, conv.pack(filters, 3) if packed else None)
    finite = out.isfinite().flatten(2).all(-1).view(2, 3, channels)
    spoilt = torch.tensor([[False, True, False], [True, False, False]])
    assert torch.equal(finite.any(-1), ~spoilt)
    assert torch.equal(finite.all(-1), ~spoilt)


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_that_cannot_be_had_is_an_error(threads):
    maps, filters = tensors(SHAPES[2])
    job = conv._job(maps, filters, SHAPES[2].groups, 1, maps=maps, filters=filters, out=maps)
    job.inputs = 2**40
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        with pytest.raises(MemoryError, match=r"needs [\d,]{20,} bytes to work in"):
            conv._run(job)
    finally:
        torch.set_num_threads(before)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a processor without AVX")
@pytest.mark.fast("-mno-avx-*")
@pytest.mark.parametrize(("without", "lanes"), [("-mno-avx512f", 8), ("-mno-avx", 4)])
def test_narrower_vectors(without, lanes):
    """Other widths of vectors, whatever this processor has."""
    script = (
        f"from t3cen.ops.cpu import build; build.FLAGS = (*build.FLAGS, {without!r});"
        "import sys; sys.path.insert(0, 'tests/ops'); import test_conv;"
        f"assert test_conv.LANES == {lanes}, test_conv.LANES;"
        "found = {shape: test_conv.errors(shape) for shape in test_conv.SHAPES};"
        "assert max(map(max, found.values())) < 3e-6, found"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
