"""Compiled convolution in groups: PyTorch's own, to rounding, whichever way it goes."""

import platform
import subprocess
import sys

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupConv2d
from t3cen.ops.cpu import kernels
from t3cen.ops.geometry import Plane

pytestmark = pytest.mark.usefixtures("compiled")
ALL = (True, True, True)
EVERY_PLACE, EVERY_SECOND = compiled_conv.PLANES[3, 3]
(POINTWISE,) = compiled_conv.PLANES[1, 1]
NARROW, TILED = compiled_conv.WAYS
HALF = compiled_conv.CompiledConv(TILED).lanes // 2
"""Channels that fill half a vector of this machine."""


def tensors(inputs=8, outputs=8, height=32, width=32, groups=3, batch=2, dtype=torch.float32, kernel=3):
    generator = torch.Generator().manual_seed(0)
    sizes = (batch, groups * inputs, height, width), (groups * outputs, inputs, kernel, kernel), (groups * outputs,)
    return [torch.randn(*size, dtype=dtype, generator=generator) for size in sizes]


def found(maps, filters, groups=3, plane=EVERY_PLACE):
    """The C file that is taken, or None."""
    conv = compiled_conv.find(maps, filters, groups, plane)
    return next((file for file in compiled_conv.WAYS if conv is compiled_conv._made(file)[0]), None) if conv else None


def errors(conv, maps, filters, bias, groups, step=1):
    """Largest errors of the result and the gradients, over their largest values; PyTorch's beside them."""
    exact = [t.double().requires_grad_() for t in (maps, filters, bias)]
    options = (step, filters.shape[-1] // 2, 1, groups)
    want = F.conv2d(*exact, *options)
    gradient = torch.randn(want.shape, generator=torch.Generator().manual_seed(1))
    wants = [want, *torch.autograd.grad(want, exact, gradient.double())]
    theirs = [t.clone().requires_grad_() for t in (maps, filters, bias)]
    their = F.conv2d(*theirs, *options)
    theirs = [their, *torch.autograd.grad(their, theirs, gradient)]
    ours = [conv.forward(maps, filters, bias, groups, step), *conv.backward(gradient, maps, filters, groups, ALL, step)]
    found = []
    for got, their, want in zip(ours, theirs, wants, strict=True):
        assert got.shape == want.shape
        found.append(tuple(float(((t - want).abs().max() / want.abs().max()).detach()) for t in (got, their)))
    return found


@pytest.mark.parametrize(("inputs", "outputs"), [(8, 8), (8, 16), (24, 8)])
@pytest.mark.parametrize(("height", "width"), [(32, 32), (2, 16), (6, 16), (5, 32), (8, 96)])
def test_narrow_equals_pytorch_forwards_and_backwards(inputs, outputs, height, width):
    maps, filters, bias = tensors(inputs, outputs, height, width)
    assert max(error for error, _ in errors(compiled_conv.CompiledConv(NARROW), maps, filters, bias, 3)) < 3e-6


@pytest.mark.parametrize(("inputs", "outputs"), [(16, 16), (9, 31), (33, 17), (64, 70), (70, 64), (1, 100)])
@pytest.mark.parametrize(
    ("batch", "height", "width"), [(2, 8, 8), (3, 4, 4), (40, 4, 4), (2, 7, 5), (1, 1, 1), (2, 2, 33), (3, 13, 1), (2, 28, 28)]
)
@pytest.mark.parametrize("groups", [1, 5])
@pytest.mark.parametrize(("kernel", "step"), [(3, 1), (3, 2), (1, 1)])
def test_tiled_equals_pytorch_forwards_and_backwards(inputs, outputs, batch, height, width, groups, kernel, step):
    maps, filters, bias = tensors(inputs, outputs, height, width, groups, batch, kernel=kernel)
    for error, theirs in errors(compiled_conv.CompiledConv(TILED), maps, filters, bias, groups, step):
        assert error < 3e-6
        assert error < 10 * theirs + 5e-7  # a result of few products is a difference of sums here


@pytest.mark.parametrize(
    ("shape", "plane", "file"),
    [
        ({}, EVERY_PLACE, NARROW),
        ({"inputs": HALF, "outputs": 100}, EVERY_SECOND, None),
        ({"inputs": HALF + 1, "outputs": 100}, EVERY_SECOND, TILED),
        ({"inputs": 100, "outputs": HALF}, EVERY_PLACE, None),
        ({"inputs": HALF, "outputs": 100, "kernel": 1}, POINTWISE, None),
        ({"height": 3, "width": 20}, EVERY_PLACE, None if HALF == 8 else TILED),
        ({"inputs": 9, "outputs": 16}, EVERY_PLACE, TILED),
        ({"inputs": 9, "outputs": 16}, EVERY_SECOND, TILED),
        ({"inputs": 9, "outputs": 100, "kernel": 1}, POINTWISE, TILED),
        ({"inputs": 40, "outputs": 40, "kernel": 1}, POINTWISE, None if HALF == 8 else TILED),
        ({"inputs": 24, "outputs": 24, "height": 7, "width": 9}, EVERY_PLACE, TILED),
        ({"inputs": 24, "outputs": 24, "height": 4, "width": 4}, EVERY_PLACE, None),
        ({"inputs": 24, "outputs": 24, "height": 4, "width": 4, "batch": 8}, EVERY_PLACE, TILED),
        ({"inputs": 24, "outputs": 24, "height": 4, "width": 4, "kernel": 1}, POINTWISE, TILED),
        ({"inputs": 16, "outputs": 16, "dtype": torch.float64}, EVERY_PLACE, None),
        ({"batch": 0}, EVERY_PLACE, None),
        ({"inputs": 64, "outputs": 64, "groups": 1}, EVERY_PLACE, None),
        ({"inputs": 64, "outputs": 64, "groups": 1, "batch": 4}, EVERY_PLACE, TILED),
        ({"inputs": 64, "outputs": 64, "groups": 2}, EVERY_PLACE, TILED),
    ],
    ids=str,
)
def test_which_way_is_taken(shape, plane, file):
    maps, filters, _ = tensors(**shape)
    assert found(maps, filters, shape.get("groups", 3), plane) == file


@pytest.mark.parametrize("channels", [8, 16])
@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize(
    "plane",
    [
        Plane((3, 3), (1, 1), (1, 1)),
        Plane((2, 1), (1, 1), (1, 1)),
        Plane((1, 1), (2, 2), (1, 1)),
        Plane((2, 2), (0, 0), (1, 1)),
        Plane((1, 1), (2, 2), (2, 2)),
    ],
)
def test_other_ways_over_the_plane(plane, kernel, channels):
    maps, filters, _ = tensors(channels, channels, kernel=kernel)
    assert found(maps, filters, plane=plane) is None


def test_other_kernels():
    maps, filters, _ = tensors(16, 16)
    assert found(maps, filters[..., :1]) is None
    assert found(maps, filters[..., :2, :2]) is None
    assert found(*tensors(16, 16, kernel=5)[:2], plane=Plane((1, 1), (2, 2), (1, 1))) is None


@pytest.mark.parametrize("file", compiled_conv.WAYS)
def test_only_what_is_needed_is_made(file):
    maps, filters, bias = tensors()
    conv = compiled_conv.CompiledConv(file)
    gradient = conv.forward(maps, filters, bias, 3)
    for needed in [(True, False, False), (False, True, False), (False, False, True)]:
        assert tuple(t is not None for t in conv.backward(gradient, maps, filters, 3, needed)) == needed


@pytest.mark.parametrize(
    ("file", "channels", "groups", "kernel", "step"),
    [(NARROW, 8, 7, 3, 1), (TILED, 16, 7, 3, 1), (TILED, 70, 1, 3, 1), (TILED, 70, 1, 3, 2), (TILED, 40, 2, 1, 1)],
)
def test_threads_and_other_images_change_no_bit(file, channels, groups, kernel, step):
    maps, filters, bias = tensors(channels, channels, groups=groups, batch=3, kernel=kernel)
    conv, before, results = compiled_conv.CompiledConv(file), torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 16):
            torch.set_num_threads(threads)
            out = conv.forward(maps, filters, bias, groups, step)
            results.append([out, *conv.backward(out, maps, filters, groups, ALL, step)[:2]])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for result in results[1:] for a, b in zip(result, results[0], strict=True))
    assert torch.equal(conv.forward(maps[1:2], filters, bias, groups, step), results[0][0][1:2])


@pytest.mark.parametrize("file", compiled_conv.WAYS)
def test_tensors_laid_out_otherwise(file):
    maps, filters, bias = tensors()
    conv = compiled_conv.CompiledConv(file)
    want = conv.forward(maps, filters, bias, 3)
    other = maps.contiguous(memory_format=torch.channels_last), filters.contiguous(memory_format=torch.channels_last)
    assert torch.equal(conv.forward(*other, bias, 3), want)
    gradient = want.contiguous(memory_format=torch.channels_last)
    for a, b in zip(conv.backward(gradient, *other, 3, ALL), conv.backward(want, maps, filters, 3, ALL), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(("file", "kernel", "step"), [(NARROW, 3, 1), (TILED, 3, 1), (TILED, 3, 2), (TILED, 1, 1)])
def test_no_number_of_another_image_or_group_comes_in(file, kernel, step):
    """What is not finite stays in its image and group; a product with a zero in the place of nothing would spread it."""
    maps, filters, bias = tensors(16, 16, 32, 32, kernel=kernel)
    maps[0, 16:32], maps[1, :16] = float("nan"), float("inf")
    out = compiled_conv.CompiledConv(file).forward(maps, filters, bias, 3, step)
    finite = out.isfinite().all(-1).all(-1).view(2, 3, 16)
    spoilt = torch.tensor([[False, True, False], [True, False, False]])
    assert torch.equal(finite.any(-1), ~spoilt)
    assert torch.equal(finite.all(-1), ~spoilt)


@pytest.mark.parametrize("channels", [8, 16])
def test_switched_off_watched_or_without_a_compiler(channels, monkeypatch):
    maps, filters, _ = tensors(channels, channels)
    kernels.use("off")
    assert found(maps, filters) is None
    kernels.use("on")
    with FlopCounterMode(display=False):
        assert found(maps, filters) is None
    monkeypatch.setattr(compiled_conv, "_made", lambda file: (None, "no compiler"))
    with pytest.raises(kernels.native.UnavailableError, match="kernels are 'on': no compiler"):
        compiled_conv.find(maps, filters, 3, EVERY_PLACE)
    kernels.use("auto")
    assert compiled_conv.find(maps, filters, 3, EVERY_PLACE) is None


@pytest.mark.parametrize(
    ("inputs", "outputs", "size", "kernel", "step"),
    [
        (8, 8, 32, 3, 1),
        (6, 7, 32, 3, 1),
        (3, 8, 32, 3, 1),
        (16, 16, 8, 3, 1),
        (10, 21, 9, 3, 1),
        (64, 64, 4, 3, 1),
        (80, 70, 4, 3, 1),
        (10, 21, 9, 3, 2),
        (16, 32, 8, 3, 2),
        (10, 70, 9, 1, 2),
    ],
)
@pytest.mark.parametrize("orders", [(), (4, 3)])
def test_a_layer_takes_it_and_is_the_direct_one(orders, inputs, outputs, size, kernel, step, monkeypatch):
    group, taken = CyclicProduct(*orders), []
    monkeypatch.setattr(compiled_conv, "LEAST_ALONE", 0)
    for name in ("forward", "backward"):
        run = getattr(compiled_conv.CompiledConv, name)
        monkeypatch.setattr(compiled_conv.CompiledConv, name, lambda *a, name=name, run=run: taken.append(name) or run(*a))
    torch.manual_seed(0)
    options = {"group": group, "padding": kernel // 2, "stride": step}
    fourier = GroupConv2d(inputs, outputs, kernel, backend="fourier", **options)
    direct = GroupConv2d(inputs, outputs, kernel, backend="direct", **options)
    direct.load_state_dict(fourier.state_dict())
    f = torch.randn(8, group.order, inputs, size, size)
    results = []
    for layer in (fourier, direct):
        x = f.clone().requires_grad_()
        out = layer(x)
        results.append([out, *torch.autograd.grad(out.square().mean(), [x, *layer.parameters()])])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5 * float(b.detach().abs().max()))
    if group.order > 1 or min(inputs, outputs) > 8:  # fewer are filled up only where there are several products
        assert set(taken) == {"forward", "backward"}


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a processor without AVX")
@pytest.mark.parametrize(("without", "lanes"), [("-mno-avx512f", 8), ("-mno-avx", 4)])
def test_narrower_vectors(without, lanes):
    """Other widths of vectors, whatever this processor has."""
    script = (
        f"import sys; from t3cen.nn import compiled_conv, native; native.FLAGS = (*native.FLAGS, {without!r});"
        "sys.path.insert(0, 'tests/nn'); from test_compiled_conv import errors, tensors, NARROW, TILED;"
        "results = [errors(compiled_conv.CompiledConv(NARROW), *tensors(width=8, height=4), 3)];"
        "tiled = compiled_conv.CompiledConv(TILED);"
        "shapes = (16, 16, 8, 8), (9, 31, 7, 5), (70, 64, 4, 4);"
        "results += [errors(tiled, *tensors(*shape), 3, step) for step in (1, 2) for shape in shapes];"
        "results += [errors(tiled, *tensors(9, 31, 7, 5, kernel=1), 3)];"
        f"assert tiled.lanes == {lanes};"
        "assert max(e for r in results for e, _ in r) < 3e-6, results"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
