"""Norm, sum and ReLU as one operator: PyTorch's own, its rules for gradients, tangents, batches, compilers and precisions."""

import itertools

import pytest
import torch
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from torch.nn import functional as F

from t3cen.ops.norm import batch_norm_act, batch_norm_act_backward

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


@CASES
def test_derivatives_of_the_first_and_second_order(ending, affine):
    inputs = [t.requires_grad_() for t in there(tensors(ending, affine, (2, 2, 2, 2, 3)))]
    function = of(fused, tensors(ending, affine), ending)
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, inputs, check_fwd_over_rev=True)


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
