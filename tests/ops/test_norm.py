"""Norm, sum and ReLU as one operator: PyTorch's own, its rules for gradients, tangents, batches, compilers and precisions."""

import itertools

import pytest
import torch
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from torch.nn import functional as F

from t3cen.ops.norm import batch_norm_act

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated"),  # of functorch itself
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor"),  # of opcheck itself
]
ENDINGS = ("plain", "relu", "summed")


def tensors(ending="summed", affine=True, shape=(2, 3, 4, 5, 6), dtype=torch.float64, seed=0):
    """Maps, each channel about a mean of its own, weight, bias, shortcut."""
    generator = torch.Generator().manual_seed(seed)
    maps, shortcut = (torch.randn(shape, generator=generator, dtype=dtype) for _ in range(2))
    maps += 3 * torch.randn(shape[-3], 1, 1, generator=generator, dtype=dtype)
    weight, bias = (torch.empty(shape[-3], dtype=dtype).uniform_(-1, 2, generator=generator) for _ in range(2))
    return maps, *((weight, bias) if affine else (None, None)), shortcut if ending == "summed" else None


def composed(maps, weight, bias, shortcut, ending, eps=1e-5):
    """In PyTorch's own operations."""
    out = F.batch_norm(maps.flatten(0, -4), None, None, weight, bias, True, 0, eps).view(maps.shape)
    out = out if shortcut is None else out + shortcut
    return out if ending == "plain" else out.relu()


def fused(maps, weight, bias, shortcut, ending, eps=1e-5):
    return batch_norm_act(maps, weight, bias, shortcut, eps, ending == "relu")[0]


def there(tensors):
    return [t for t in tensors if t is not None]


def of(function, tensors, ending):
    """The function of those tensors that there are."""
    places = [i for i, t in enumerate(tensors) if t is not None]

    def call(*given):
        arguments = [None] * 4
        for place, tensor in zip(places, given, strict=True):
            arguments[place] = tensor
        return function(*arguments, ending)

    return call


CASES = pytest.mark.parametrize(("ending", "affine"), list(itertools.product(ENDINGS, (True, False))))


@CASES
@pytest.mark.parametrize("shape", [(2, 3, 4, 5, 6), (5, 4, 3, 3), (3, 2, 2, 1, 1)], ids=str)
def test_value_and_gradients_are_pytorchs(ending, affine, shape):
    inputs = tensors(ending, affine, shape)
    found = []
    for function in (fused, composed):
        given = [t.clone().requires_grad_() for t in there(inputs)]
        out = of(function, inputs, ending)(*given)
        gradient = torch.linspace(-1, 2, out.numel(), dtype=out.dtype).view_as(out)
        found.append((out.detach(), torch.autograd.grad(out, given, gradient)))
    torch.testing.assert_close(*found)


@pytest.mark.fast("summed-True")
@CASES
def test_derivatives_of_the_first_and_second_order(ending, affine):
    inputs = [t.requires_grad_() for t in there(tensors(ending, affine, (2, 2, 2, 2, 3)))]
    function = of(fused, tensors(ending, affine), ending)
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, inputs, check_fwd_over_rev=True)


@pytest.mark.slow
@CASES
def test_opcheck(ending, affine):
    for dtype in (torch.float64, torch.float32):
        inputs = tensors(ending, affine, (3, 2, 3, 5, 4), dtype)
        for given in (inputs, [None if t is None else t.requires_grad_() for t in inputs]):
            torch.library.opcheck(torch.ops.t3cen.batch_norm_act.default, (*given, 1e-5, ending == "relu"))
        maps, weight, bias, shortcut = (None if t is None else t.detach() for t in inputs)
        out, mean, variance = batch_norm_act(maps, weight, bias, shortcut, 1e-5, ending == "relu")
        result = None if shortcut is None else out
        saved = (torch.randn_like(maps), maps, weight, bias, mean, variance, result, 1e-5, ending == "relu")
        torch.library.opcheck(torch.ops.t3cen.batch_norm_act_backward.default, saved)


@CASES
def test_torch_func(ending, affine):
    """A batch of batches, each with statistics of its own."""
    inputs = tensors(ending, affine)
    function = of(lambda *args: fused(*args).square().sum(), inputs, ending)
    plain = of(lambda *args: composed(*args).square().sum(), inputs, ending)
    batch = [torch.stack([t, 2 * t + 1]) for t in there(inputs)]
    each = [torch.func.grad(plain, tuple(range(len(batch))))(*parts) for parts in zip(*batch, strict=True)]
    got = torch.func.vmap(torch.func.grad(function, tuple(range(len(batch)))))(*batch)
    torch.testing.assert_close(got, tuple(torch.stack(parts) for parts in zip(*each, strict=True)))
    _, got = torch.func.jvp(function, tuple(there(inputs)), tuple(there(inputs)))
    _, want = torch.func.jvp(plain, tuple(there(inputs)), tuple(there(inputs)))
    torch.testing.assert_close(got, want)
    small = tensors(ending, affine, (2, 2, 2, 1, 2))
    scale = torch.linspace(-1, 2, 16, dtype=torch.float64).view(small[0].shape)
    function, plain = (of(lambda *args, f=f: (scale * f(*args)).square().sum(), small, ending) for f in (fused, composed))
    # PyTorch's own norm is wrong where forward mode comes first.
    want = torch.func.jacrev(torch.func.jacrev(plain))(*there(small))
    for outer, inner in itertools.product((torch.func.jacrev, torch.func.jacfwd), (torch.func.jacrev, torch.func.jacfwd)):
        if (outer, inner) != (torch.func.jacfwd, torch.func.jacfwd):  # `autograd.Function` has no forward mode over forward mode
            torch.testing.assert_close(outer(inner(function))(*there(small)), want)


def test_statistics_are_those_of_the_batch():
    maps, *_ = tensors()
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        _, mean, variance = batch_norm_act(maps.to(dtype), None, None, None, 1e-5, False)
        assert mean.dtype == variance.dtype == torch.float64
        wide = maps.to(dtype).double().movedim(2, 0).flatten(1)
        torch.testing.assert_close(mean, wide.mean(1), rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(variance, wide.var(1, correction=0), rtol=1e-5, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("parameters", ["half", "single"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_half_precision_is_rounded_only_at_the_end(ending, parameters, dtype):
    maps, weight, bias, shortcut = (None if t is None else t.to(dtype) for t in tensors(ending))
    if parameters == "single":
        weight, bias = weight.float(), bias.float()
    half = [None if t is None else t.clone().requires_grad_() for t in (maps, weight, bias, shortcut)]
    single = [None if t is None else t.float().requires_grad_() for t in (maps, weight, bias, shortcut)]
    got, want = fused(*half, ending), composed(*single, ending)
    assert got.dtype == dtype
    torch.testing.assert_close(got.float(), want, rtol=2e-2, atol=2e-2)
    weight = torch.linspace(-1, 2, got.numel()).view_as(got).cos()
    grads = [torch.autograd.grad((out.float() * weight).sum(), there(given)) for out, given in ((got, half), (want, single))]
    for g, w, primal in zip(*grads, there(half), strict=True):
        assert g.dtype == primal.dtype
        # Rounding takes some value to the other side of ReLU.
        assert (g.float() - w).norm() <= 0.1 * w.norm()


@pytest.mark.parametrize("ending", ENDINGS)
def test_channels_last_images_stay_so(ending):
    inputs = [
        t if t is None else t.contiguous(memory_format=torch.channels_last) if t.ndim == 4 else t
        for t in tensors(ending, shape=(3, 4, 6, 5))
    ]
    out = fused(inputs[0].requires_grad_(), *inputs[1:], ending)
    assert out.is_contiguous(memory_format=torch.channels_last)
    (gradient,) = torch.autograd.grad(out.square().sum(), inputs[0])
    assert gradient.is_contiguous(memory_format=torch.channels_last)
    (want,) = torch.autograd.grad(composed(*inputs, ending).square().sum(), inputs[0])
    torch.testing.assert_close(gradient, want)


@pytest.mark.parametrize("ending", ["plain", "relu"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_result_may_be_changed_in_place(ending, dtype):
    inputs = [None if t is None else t.to(dtype) for t in tensors(ending)]
    maps = inputs[0].requires_grad_()
    torch.neg_(fused(*inputs, ending)).square().sum().backward()
    (want,) = torch.autograd.grad(composed(*inputs, ending).square().sum(), maps)
    torch.testing.assert_close(maps.grad, want, rtol=1e-4, atol=1e-4)


def test_one_value_per_channel_is_an_error():
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        batch_norm_act(torch.randn(1, 1, 4, 1, 1), None, None, None, 1e-5, False)


def test_operations_of_forward_mode_by_hand():
    inputs = tensors("summed")
    with dual_level():
        out = fused(make_dual(inputs[0], inputs[3]), *inputs[1:], "summed")
        tangent = unpack_dual(out).tangent
    _, want = torch.func.jvp(lambda maps: composed(maps, *inputs[1:], "summed"), (inputs[0],), (inputs[3],))
    torch.testing.assert_close(tangent, want)
