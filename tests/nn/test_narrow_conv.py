"""Compiled convolution in groups of few channels: PyTorch's own, to rounding."""

import platform
import subprocess
import sys

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupConv2d, kernels, narrow_conv
from t3cen.nn.plane import Plane

ALL = (True, True, True)


@pytest.fixture(autouse=True)
def compiled():
    """A machine that tests this has a compiler."""
    kernels.use("on")
    yield
    kernels.use("auto")


def tensors(inputs=8, outputs=8, height=32, width=32, groups=3, batch=2, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    sizes = (batch, groups * inputs, height, width), (groups * outputs, inputs, 3, 3), (groups * outputs,)
    return [torch.randn(*size, dtype=dtype, generator=generator) for size in sizes]


@pytest.mark.parametrize(("inputs", "outputs"), [(8, 8), (8, 16), (24, 8)])
@pytest.mark.parametrize(("height", "width"), [(32, 32), (2, 16), (6, 16), (5, 32), (8, 96)])
def test_equals_pytorch_forwards_and_backwards(inputs, outputs, height, width, monkeypatch):
    monkeypatch.setattr(narrow_conv, "MOST_CHANNELS", 64)
    maps, filters, bias = tensors(inputs, outputs, height, width)
    assert narrow_conv.suits(maps, filters, 3, narrow_conv.PLANE)
    exact = [t.double().requires_grad_() for t in (maps, filters, bias)]
    want = F.conv2d(*exact, 1, 1, 1, 3)
    gradient = torch.randn(want.shape, generator=torch.Generator().manual_seed(1))
    wants = [want, *torch.autograd.grad(want, exact, gradient.double())]
    gots = [narrow_conv.forward(maps, filters, bias, 3), *narrow_conv.backward(gradient, maps, filters, 3, ALL)]
    for got, want in zip(gots, wants, strict=True):
        torch.testing.assert_close(got.double(), want, rtol=0, atol=3e-6 * float(want.detach().abs().max()))


def test_only_what_is_needed_is_made():
    maps, filters, bias = tensors()
    gradient = narrow_conv.forward(maps, filters, bias, 3)
    for needed in [(True, False, False), (False, True, False), (False, False, True)]:
        assert tuple(t is not None for t in narrow_conv.backward(gradient, maps, filters, 3, needed)) == needed


def test_threads_and_other_images_change_no_bit():
    maps, filters, bias = tensors(groups=7, batch=3)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            out = narrow_conv.forward(maps, filters, bias, 7)
            results.append([out, *narrow_conv.backward(out, maps, filters, 7, ALL)[:2]])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for result in results[1:] for a, b in zip(result, results[0], strict=True))
    assert torch.equal(narrow_conv.forward(maps[1:2], filters, bias, 7), results[0][0][1:2])


def test_tensors_laid_out_otherwise():
    maps, filters, bias = tensors()
    want = narrow_conv.forward(maps, filters, bias, 3)
    other = maps.contiguous(memory_format=torch.channels_last), filters.contiguous(memory_format=torch.channels_last)
    assert torch.equal(narrow_conv.forward(*other, bias, 3), want)
    gradient = want.contiguous(memory_format=torch.channels_last)
    for a, b in zip(
        narrow_conv.backward(gradient, *other, 3, ALL), narrow_conv.backward(want, maps, filters, 3, ALL), strict=True
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    "other",
    [
        {"width": 20},
        {"width": 12},
        {"height": 3, "width": 16}
        if narrow_conv._code()[0] and narrow_conv._code()[0].lanes == 16
        else {"height": 3, "width": 8},
        {"inputs": 16},
        {"outputs": 16},
        {"inputs": 3},
        {"outputs": 9},
        {"dtype": torch.float64},
        {"batch": 0},
    ],
    ids=str,
)
def test_what_it_leaves_to_pytorch(other):
    maps, filters, _ = tensors(**other)
    assert not narrow_conv.suits(maps, filters, 3, narrow_conv.PLANE)


@pytest.mark.parametrize("plane", [Plane((2, 2), (1, 1), (1, 1)), Plane((1, 1), (0, 0), (1, 1)), Plane((1, 1), (2, 2), (2, 2))])
def test_other_ways_over_the_plane(plane):
    maps, filters, _ = tensors()
    assert not narrow_conv.suits(maps, filters, 3, plane)
    assert not narrow_conv.suits(maps, filters[..., :1], 3, narrow_conv.PLANE)


def test_switched_off_watched_or_without_a_compiler(monkeypatch):
    maps, filters, _ = tensors()
    kernels.use("off")
    assert not narrow_conv.suits(maps, filters, 3, narrow_conv.PLANE)
    kernels.use("on")
    with FlopCounterMode(display=False):
        assert not narrow_conv.suits(maps, filters, 3, narrow_conv.PLANE)
    monkeypatch.setattr(narrow_conv, "_code", lambda: (None, "no compiler"))
    with pytest.raises(kernels.native.UnavailableError, match="kernels are 'on': no compiler"):
        narrow_conv.suits(maps, filters, 3, narrow_conv.PLANE)
    kernels.use("auto")
    assert not narrow_conv.suits(maps, filters, 3, narrow_conv.PLANE)


@pytest.mark.parametrize(("inputs", "outputs"), [(8, 8), (6, 7), (3, 8)])
def test_a_layer_takes_it_and_is_the_direct_one(inputs, outputs, monkeypatch):
    group, taken = CyclicProduct(4, 3), []
    forward, backward = narrow_conv.forward, narrow_conv.backward
    monkeypatch.setattr(narrow_conv, "forward", lambda *a: taken.append("forward") or forward(*a))
    monkeypatch.setattr(narrow_conv, "backward", lambda *a: taken.append("backward") or backward(*a))
    torch.manual_seed(0)
    fourier = GroupConv2d(inputs, outputs, 3, group=group, padding=1, backend="fourier")
    direct = GroupConv2d(inputs, outputs, 3, group=group, padding=1, backend="direct")
    direct.load_state_dict(fourier.state_dict())
    f = torch.randn(2, 12, inputs, 32, 32)
    results = []
    for layer in (fourier, direct):
        x = f.clone().requires_grad_()
        out = layer(x)
        results.append([out, *torch.autograd.grad(out.square().mean(), [x, *layer.parameters()])])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5 * float(b.detach().abs().max()))
    assert taken == ["forward", "backward"]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a processor without AVX")
def test_without_avx512_the_result_is_the_same():
    """The other width of vectors, whatever this processor has."""
    script = (
        "import sys, torch; from t3cen.nn import native, narrow_conv; native.FLAGS = (*native.FLAGS, '-mno-avx512f');"
        "sys.path.insert(0, 'tests/nn'); from test_narrow_conv import tensors; m, f, b = tensors(width=8, height=4);"
        "assert narrow_conv._code()[0].lanes == 8 and narrow_conv.suits(m, f, 3, narrow_conv.PLANE);"
        "want = torch.nn.functional.conv2d(m.double(), f.double(), b.double(), 1, 1, 1, 3);"
        "torch.testing.assert_close(narrow_conv.forward(m, f, b, 3).double(), want, rtol=0, atol=1e-4)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
