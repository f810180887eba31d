"""ReLU of band-limited functions by its cell averages: what they are, and the operator's rules, compiled or not."""

import numpy as np
import pytest
import torch

from t3cen.algebra.band import fine_orders
from t3cen.groups import CyclicProduct
from t3cen.nn import Project
from t3cen.ops import band_limited_relu, kernels, relu
from t3cen.ops.cpu import columns
from t3cen.ops.cpu.relu import routine
from t3cen.ops.relu import band_limited_relu_backward

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated"),  # of functorch itself
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor"),  # of opcheck itself
]


def function(orders, size=4, dtype=torch.float64):
    group = CyclicProduct(*orders)
    noise = torch.randn(2, group.order, 3, size, size, dtype=dtype, generator=torch.Generator().manual_seed(0))
    return Project(group, 1).to(dtype)(noise)


def test_an_average_is_that_of_many_values_along_the_piece():
    values = torch.randn(3, 7, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    values[0, 2:4] = 0
    places = (torch.arange(20000, dtype=torch.float64) + 0.5) / 20000
    along = torch.lerp(values[..., None], values.roll(-1, 1)[..., None], places)
    torch.testing.assert_close(relu.averages(values, (7,)), along.relu().mean(-1), rtol=0, atol=1e-8)


def test_on_two_axes_both_diagonals_of_a_cell_are_averaged():
    grid = torch.randn(3, 4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    got = relu.averages(grid[None, None], (1, 3, 4))[0, 0]
    for row, column in np.ndindex(3, 4):
        corners = [grid[(row + i) % 3, (column + j) % 4] for i, j in ((0, 0), (1, 1), (0, 1), (1, 0))]
        pairs = [relu.averages(torch.stack(pair)[None], (2,))[0, 0] for pair in (corners[:2], corners[2:])]
        torch.testing.assert_close(got[row, column], sum(pairs) / 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_of_nothing_it_is_nothing_and_no_sum_with_a_tiny_number_keeps_it_so(dtype):
    """An optimiser may drop `+ tiny`; a bound it may not."""
    f = torch.zeros(1, 3, 2, 2, 2, dtype=dtype, requires_grad=True)
    out = band_limited_relu.plain(f, (3,), 3)
    out.sum().backward()
    assert not out.any()
    assert not f.grad.any()
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda f: band_limited_relu.plain(f, (3,), 3))(f.detach()).graph
    added = [node.args for node in graph.nodes if node.target == torch.ops.aten.add.Tensor]
    assert added
    assert not any(isinstance(arg, float) for args in added for arg in args)


ORDERS = pytest.mark.parametrize(
    ("orders", "points"), [((5,), 2), ((5,), 3), ((4,), 3), ((9,), 2), ((3, 3), 3), ((1, 5, 3), 2), ((3, 3, 3), 2)]
)


@ORDERS
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.float64, 1e-13)])
def test_compiled_equals_plain_operations_forwards_and_backwards(orders, points, dtype, tolerance, compiled):
    f = function(orders, 32, dtype)
    f[0, :, 0] = 0
    f.requires_grad_()
    gradient = torch.randn(f.shape, dtype=dtype, generator=torch.Generator().manual_seed(1))
    for backward in (False, True):
        assert columns.compiled(routine, tuple(orders), points, backward, dtype=dtype) is not None
    got, want = band_limited_relu(f, orders, points), band_limited_relu.plain(f, orders, points)
    scale = float(want.detach().abs().max())
    torch.testing.assert_close(got, want, rtol=0, atol=tolerance * scale)
    of_got, of_want = (torch.autograd.grad(out, f, gradient)[0] for out in (got, want))
    torch.testing.assert_close(of_got, of_want, rtol=0, atol=10 * tolerance * float(of_want.abs().max()))


@ORDERS
@pytest.mark.parametrize("images", [1, 3, 9])
def test_a_few_images_at_a_time(orders, points, images, monkeypatch):
    f = function(orders)
    f = torch.cat((f, 2 - f))
    monkeypatch.setattr(relu, "CPU_PIECE", int(images * np.prod(fine_orders(orders, points))) * f[0, 0].numel())
    gradient = torch.linspace(-1, 1, f.numel(), dtype=f.dtype).view_as(f)
    kernels.use("off")
    try:
        torch.testing.assert_close(band_limited_relu(f, orders, points), band_limited_relu.plain(f, orders, points))
        got = band_limited_relu_backward(gradient, f, orders, points)
    finally:
        kernels.use("auto")
    (want,) = torch.autograd.grad(band_limited_relu.plain(f.requires_grad_(), orders, points), f, gradient)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(got, band_limited_relu_backward.plain(gradient, f, orders, points))


@pytest.mark.fast("orders1-off", "orders2-on")
@pytest.mark.parametrize("mode", ["on", "off"])
@pytest.mark.parametrize("orders", [(5,), (4,), (3, 1, 3)])
def test_derivatives_of_the_first_and_second_order(orders, mode):
    f = function(orders, 1)[:1].clone().requires_grad_()
    kernels.use(mode)
    try:
        call = lambda f: band_limited_relu(f, orders, 2)  # noqa: E731
        assert torch.autograd.gradcheck(call, f, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(call, f, check_fwd_over_rev=True)
    finally:
        kernels.use("auto")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_opcheck(dtype):
    f = function((3, 5)).to(dtype)
    torch.library.opcheck(torch.ops.t3cen.band_limited_relu.default, (f.requires_grad_(), [3, 5], 2))
    backward = (torch.randn_like(f), f, [3, 5], 2)
    torch.library.opcheck(torch.ops.t3cen.band_limited_relu_backward.default, backward)


def test_torch_func():
    f, weight = function((5,), 2), torch.linspace(-1, 2, 20, dtype=torch.float64).view(5, 1, 2, 2)
    loss = lambda one: (band_limited_relu(one[None], (5,), 3)[0] * weight).square().sum()  # noqa: E731
    each = torch.stack([torch.func.grad(loss)(one) for one in f])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(f), each)
    small = f[0, :, :1, :1, :1]
    hessian = torch.func.hessian(lambda one: (band_limited_relu(one[None], (5,), 3)[0]).square().sum())(small)
    plain = torch.func.hessian(lambda one: (band_limited_relu.plain(one[None], (5,), 3)[0]).square().sum())(small)
    torch.testing.assert_close(hessian, plain)
    assert hessian.any()


def test_the_largest_program_that_is_compiled():
    assert routine((3, 3, 3), 3, True)
    assert routine((5, 5, 5), 3) is None
    f = torch.randn(1, 125, 2, 4, 4)
    torch.testing.assert_close(band_limited_relu(f, (5, 5, 5), 3), band_limited_relu.plain(f, (5, 5, 5), 3))


def test_gradient_from_another_layout_and_in_half_precision(compiled):
    f = function((5,), 32, torch.float32)
    strided = f.transpose(-1, -2).contiguous().transpose(-1, -2).requires_grad_()
    band_limited_relu(strided, (5,), 3).sum().backward()  # the gradient of a sum has strides of 0
    straight = f.clone().requires_grad_()
    band_limited_relu.plain(straight, (5,), 3).sum().backward()
    torch.testing.assert_close(strided.grad, straight.grad)
    half, single = (f.bfloat16().to(dtype).requires_grad_() for dtype in (torch.bfloat16, torch.float32))
    out = band_limited_relu(half, (5,), 3)
    out.float().sum().backward()
    band_limited_relu(single, (5,), 3).sum().backward()
    assert (out.dtype, half.grad.dtype) == (torch.bfloat16, torch.bfloat16)
    torch.testing.assert_close(half.grad.float(), single.grad, rtol=2**-7, atol=0)


def test_a_gradient_whose_memory_says_something_else(compiled):
    """One that is lazily negated, as an imaginary part may be."""
    f = function((5,), 32, torch.float32).requires_grad_()
    gradient = torch.randn(f.shape, generator=torch.Generator().manual_seed(1))
    negated = torch.complex(torch.zeros_like(gradient), -gradient).conj().imag
    assert negated.is_neg()
    got, want = (torch.autograd.grad(band_limited_relu(f, (5,), 3), f, g)[0] for g in (negated, gradient))
    torch.testing.assert_close(got, want)


def test_what_is_not_a_number_is_not_made_one(compiled):
    f = function((5,), 32, torch.float32)
    f[0, 1, 0, 0, 0] = float("nan")
    out = band_limited_relu(f, (5,), 3)
    assert out[0, :, 0, 0, 0].isnan().all()
    assert out.isnan().sum() == 5


@pytest.mark.parametrize("mode", ["on", "off"])
def test_a_result_may_be_changed_in_place(mode):
    f = function((5,)).requires_grad_()
    kernels.use(mode)
    try:
        torch.relu_(band_limited_relu(f, (5,), 3)).sum().backward()
    finally:
        kernels.use("auto")
    assert f.grad.any()


def test_fine_orders():
    assert fine_orders((1, 5, 3), 2) == (1, 10, 6)
    with pytest.raises(ValueError, match="points must be"):
        fine_orders((5,), 0)
