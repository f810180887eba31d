"""The Fourier backend: its algorithm, and every way its products are computed."""

import itertools

import pytest
import torch

from t3cen.algebra.bilinear import cyclic_convolution
from t3cen.groups import CyclicProduct
from t3cen.nn import GroupConv2d
from t3cen.ops.cpu import kernels, matmul_products
from t3cen.ops.direct import differences
from t3cen.ops.geometry import Plane

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


@pytest.mark.parametrize(
    ("orders", "rank"),
    [
        ((), 1),
        ((1,), 1),
        ((2,), 2),
        ((3,), 4),
        ((4,), 5),
        ((8,), 11),
        ((16,), 23),
        ((4, 4), 22),
        ((4, 4, 4), 92),
        ((2, 3, 4), 34),
    ],
)
def test_number_of_products(orders, rank):
    assert cyclic_convolution(orders).rank == rank


@pytest.mark.parametrize("orders", [(1,), (2,), (3,), (7,), (2, 3, 4), (4, 4, 4)])
def test_algorithm_is_the_convolution_tensor(orders):
    algorithm = cyclic_convolution(orders)
    table = torch.tensor(differences(orders))
    # tensor[a, b, c] is 1 where c = a - b.
    wanted = torch.nn.functional.one_hot(table, len(table)).double()
    signal, filters, output = map(torch.tensor, algorithm[:3])
    assert (torch.einsum("ar,rb,rc->abc", output, signal, filters) - wanted).abs().max() < 1e-14


def test_small_orders_need_only_halves():
    for orders in ((2,), (4,), (4, 4), (2, 4, 4)):
        for matrix in cyclic_convolution(orders)[:2]:
            assert set(abs(matrix).flatten()) <= {0, 1, 2}


@pytest.mark.parametrize("products", ["grouped", "in chunks", "matmul"])
@pytest.mark.parametrize("options", PLANE, ids=str)
def test_every_form_of_the_products_agrees_with_direct(options, products, monkeypatch):
    monkeypatch.setattr(matmul_products, "suits", lambda *_: products == "matmul")
    if products == "in chunks":
        # The filters are larger than the transform of one small image, so they must not count.
        monkeypatch.setattr(grouped_products, "_chunks", lambda input, *_: [slice(0, 2), slice(2, 3)])
    orders = (2, 3)
    direct, fourier = pair(orders, **options)
    x = function(orders)
    torch.testing.assert_close(results(fourier, x), results(direct, x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernels_choice", ["auto", "off"])
@pytest.mark.parametrize("chunks", [[slice(0, 3)], [slice(0, 2), slice(2, 3)]], ids=["whole", "in chunks"])
@pytest.mark.parametrize("channels", [(1, 8), (2, 3), (3, 2), (4, 4), (8, 11), (11, 8), (8, 16)], ids=str)
def test_channels_filled_up_for_the_convolution_are_gone_afterwards(channels, chunks, kernels_choice, monkeypatch):
    monkeypatch.setattr(matmul_products, "suits", lambda *_: False)
    monkeypatch.setattr(grouped_products, "_chunks", lambda *_: chunks)
    monkeypatch.setattr(kernels, "_chosen", [kernels_choice])
    monkeypatch.setattr(kernels.Which, "least_size", 0)
    orders = (3, 4)
    direct, fourier = pair(orders, channels, stride=(2, 1), padding=1)
    x = function(orders, channels=channels[0])
    exact = results(direct, x)
    for found, wanted in zip(results(fourier.float(), x.float()), exact, strict=True):
        assert found.shape == wanted.shape
        torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-4 * float(wanted.abs().max()))


def test_only_what_pytorch_convolves_in_single_precision_on_the_cpu_is_filled_up():
    filters, input, plane = torch.randn(5 * 12, 11, 3, 3), torch.randn(2, 4, 11, 16, 16), Plane((1, 1), (2, 2), (1, 1))
    wide = grouped_products._widened(input, filters, 5, plane)
    assert wide.shape == (5 * 16, 16, 3, 3)
    assert wide.count_nonzero() == filters.numel()
    for narrow in (filters.double(), filters.bfloat16(), filters.to("meta"), torch.randn(5 * 8, 2, 3, 3)):
        assert grouped_products._widened(input, narrow, 5, plane) is narrow
    compiled = Plane((1, 1), (1, 1), (1, 1))
    assert compiled_conv.find(input, filters, 5, compiled)
    assert grouped_products._widened(input, filters, 5, compiled) is filters


@pytest.mark.parametrize("form", ["grouped", "matmul"])
def test_only_what_needs_a_gradient_gets_one(form, monkeypatch):
    monkeypatch.setattr(matmul_products, "suits", lambda *_: form == "matmul")
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
    rows = [list(range(7))[s] for s in grouped_products._chunks(input, filters, 5)]
    assert list(itertools.chain(*rows)) == list(range(7))
    assert len(rows) > 1
    assert list(grouped_products._chunks(input[:, :, :, :8, :8], filters, 5)) == [slice(0, 7)]


def test_second_derivatives_of_both_forms(monkeypatch):
    for form in ("grouped", "matmul"):
        monkeypatch.setattr(matmul_products, "suits", lambda *_, form=form: form == "matmul")
        _, conv = pair((3,), kernel_size=2)
        assert torch.autograd.gradgradcheck(conv, function((3,), batch=1, plane=(2, 2)).requires_grad_())


def test_functional_gradient():
    _, conv = pair((3,))
    x = function((3,))
    loss = lambda parameters: torch.func.functional_call(conv, parameters, x).square().sum()  # noqa: E731
    parameters = {name: p.detach() for name, p in conv.named_parameters()}
    got = torch.func.grad(loss)(parameters)
    wanted = torch.autograd.grad(conv(x).square().sum(), [conv.weight, conv.bias])
    torch.testing.assert_close([got["weight"], got["bias"]], list(wanted))
