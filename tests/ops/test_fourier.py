"""The Fourier backend: its algorithm, and every way its products are computed."""

import itertools

import pytest
import torch

from t3cen import ops
from t3cen.groups import CyclicProduct
from t3cen.nn import GroupConv2d
from t3cen.ops import kernels
from t3cen.ops.cpu import products
from t3cen.ops.cpu import transform as cpu_transform
from t3cen.ops.geometry import ConvGeometry
from t3cen.ops.operator import DECOMPOSITIONS

PLANE = (
    {"padding": 1},
    {"stride": 2, "padding": 1},
    {"stride": (2, 1), "padding": (0, 2), "dilation": (1, 2), "kernel_size": (3, 2)},
    {"kernel_size": 1, "stride": 2},
    {"kernel_size": 1, "stride": 2, "padding": 1},
    {"bias": False},
)


def pair(orders, channels=(3, 2), **options):
    """The same layer with both backends."""
    layers = []
    for backend in ("direct", "fourier"):
        torch.manual_seed(0)
        kernel_size = options.get("kernel_size", 3)
        rest = {name: value for name, value in options.items() if name != "kernel_size"}
        layers.append(GroupConv2d(*channels, kernel_size, CyclicProduct(*orders), backend=backend, **rest).double())
    return layers


def results(conv, x):
    """Output and every gradient."""
    x = x.clone().requires_grad_()
    out = conv(x)
    return [out.detach(), *torch.autograd.grad((out * out.detach().cos()).sum(), [x, *conv.parameters()])]


def function(orders, batch=3, plane=(5, 6), channels=3):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, torch.Size(orders).numel(), channels, *plane, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("chunks", [[slice(0, 3)], [slice(0, 2), slice(2, 3)]], ids=["whole", "in chunks"])
@pytest.mark.parametrize("options", PLANE, ids=str)
def test_agrees_with_direct(options, chunks, monkeypatch):
    # The filters are larger than the transform of one small image, so they must not count.
    monkeypatch.setattr(products, "_chunks", lambda *_: chunks)
    direct, fourier = pair((2, 3), **options)
    x = function((2, 3))
    torch.testing.assert_close(results(fourier, x), results(direct, x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", PLANE, ids=str)
def test_plain_operations_agree_with_direct(options):
    """What every other device runs."""
    _, conv = pair((2, 3), **options)
    filters, x = ops.transform_filters(conv.weight, (2, 3)), function((2, 3))
    how = [*conv.stride, *conv.padding, *conv.dilation]
    kernel, backward = (
        DECOMPOSITIONS[getattr(torch.ops.t3cen, name).default] for name in ("fourier_conv2d", "fourier_conv2d_backward")
    )
    out = kernel(x, filters, conv.bias, [2, 3], how)
    torch.testing.assert_close(out, conv(x), rtol=1e-12, atol=1e-12)
    x, filters, gradient = x.requires_grad_(), filters.detach().requires_grad_(), out.detach().cos()
    wanted = torch.autograd.grad(kernel(x, filters, None, [2, 3], how), [x, filters], gradient)
    found = backward(gradient, x, filters, [2, 3], how, [True, True])
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernels_choice", ["auto", "off"])
@pytest.mark.parametrize("chunks", [[slice(0, 3)], [slice(0, 2), slice(2, 3)]], ids=["whole", "in chunks"])
@pytest.mark.parametrize("channels", [(1, 8), (2, 3), (3, 2), (4, 4), (8, 11), (11, 8), (8, 16)], ids=str)
def test_channels_filled_up_for_the_convolution_are_gone_afterwards(channels, chunks, kernels_choice, monkeypatch):
    monkeypatch.setattr(products, "_chunks", lambda *_: chunks)
    monkeypatch.setattr(kernels, "_chosen", [kernels_choice])
    monkeypatch.setattr(cpu_transform, "LEAST_SIZE", 0)
    orders = (3, 4)
    direct, fourier = pair(orders, channels, stride=(2, 1), padding=1)
    x = function(orders, channels=channels[0])
    exact = results(direct, x)
    for found, wanted in zip(results(fourier.float(), x.float()), exact, strict=True):
        assert found.shape == wanted.shape
        torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-4 * float(wanted.abs().max()))


def test_only_what_pytorch_convolves_in_single_precision_is_filled_up():
    filters = torch.randn(5 * 12, 11, 5, 5)
    wide = products._widened(filters, 5, False)
    assert wide.shape == (5 * 16, 16, 5, 5)
    assert wide.count_nonzero() == filters.numel()
    assert products._widened(filters, 5, True) is filters
    for narrow in (filters.double(), filters.bfloat16(), torch.randn(5 * 8, 2, 3, 3)):
        assert products._widened(narrow, 5, False).shape == narrow.shape


def test_only_what_needs_a_gradient_gets_one():
    _, conv = pair((4,))
    for frozen in ("weight", "bias"):
        conv.requires_grad_(True)
        getattr(conv, frozen).requires_grad_(False)
        conv.zero_grad()
        conv(function((4,))).sum().backward()
        assert {name for name, p in conv.named_parameters() if p.grad is None} == {frozen}
    x = function((4,)).requires_grad_()
    conv.requires_grad_(False)
    conv(x).sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("kernel_size", [1, 3])
def test_an_empty_batch_is_a_batch(kernel_size):
    _, conv = pair((4,), kernel_size=kernel_size)
    x = function((4,), batch=0).requires_grad_()
    conv(x).sum().backward()
    assert x.grad.shape == x.shape
    assert conv.weight.grad.abs().max() == 0


def test_chunks_cover_the_batch_evenly():
    filters = torch.empty(5 * 2, 2, 3, 3)
    input = torch.empty(7, 4, 2, 512, 512)
    rows = [list(range(7))[s] for s in products._chunks(input, filters, 5)]
    assert list(itertools.chain(*rows)) == list(range(7))
    assert len(rows) > 1
    assert list(products._chunks(input[:, :, :, :8, :8], filters, 5)) == [slice(0, 7)]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("batch", "plane"), [(1, (4, 4)), (3, (9, 7))])
@torch.no_grad()
def test_filters_without_a_gradient_are_packed_once_and_never_outlive_a_change(stride, batch, plane):
    filters = torch.randn(5 * 16, 16, 3, 3)
    input = torch.randn(batch, 4, 16, *plane)
    geometry = ConvGeometry((stride, stride), (1, 1))
    before = len(products._PACKED)

    def error(filters):
        found = ops.fourier_group_conv2d(input, filters, None, (4,), geometry)
        wanted = ops.fourier_group_conv2d(input.double(), filters.double(), None, (4,), geometry)
        return float((found - wanted).abs().max() / wanted.abs().max())

    assert error(filters) < 3e-6
    assert len(products._PACKED) == before + 1
    filters.mul_(torch.randn_like(filters))
    assert error(filters) < 3e-6
    filters.data = torch.randn_like(filters)
    assert error(filters) < 3e-6
    assert len(products._PACKED) == before + 1
    del filters
    assert len(products._PACKED) == before


def test_filters_in_training_are_not_packed():
    conv, before = pair((4,), (16, 16), padding=1)[1].float(), len(products._PACKED)
    conv(torch.randn(2, 4, 16, 8, 8)).sum().backward()
    assert len(products._PACKED) == before
