"""Norm, sum and ReLU compiled into one: PyTorch's own, to rounding, and left to PyTorch where it cannot be."""

import copy
import platform
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from t3cen.nn import GroupBatchNorm2d
from t3cen.nn.norm import normalized
from t3cen.ops.cpu import kernels

pytestmark = pytest.mark.usefixtures("compiled")
ENDINGS = ("plain", "rectified", "summed")


@pytest.fixture
def taken(monkeypatch):
    """What is done compiled, as `forward` and `backward`."""
    ways, run = [], compiled_norm._run
    monkeypatch.setattr(compiled_norm, "_run", lambda way, *args: ways.append(way) or run(way, *args))
    return ways


def tensors(*shape, seed=0):
    """Maps, each channel about a mean of its own, a shortcut and a gradient."""
    generator = torch.Generator().manual_seed(seed)
    maps, shortcut, gradient = (torch.randn(shape, generator=generator) for _ in range(3))
    return maps + 3 * torch.randn(shape[-3], 1, 1, generator=generator), shortcut, gradient


def made(channels, **options):
    norm = GroupBatchNorm2d(channels, **options)
    for parameter in norm.parameters():
        nn.init.uniform_(parameter, -1, 2, generator=torch.Generator().manual_seed(1))
    return norm


def run(norm, ending, maps, shortcut):
    if ending == "plain":
        return norm(maps)
    return normalized(norm, nn.ReLU(inplace=True), maps, shortcut if ending == "summed" else None)


def results(norm, ending, maps, shortcut, gradient):
    """Output and gradients, by name."""
    inputs = {"maps": maps.clone().requires_grad_(), "shortcut": shortcut.clone().requires_grad_()}
    out = run(norm, ending, *inputs.values())
    inputs |= dict(norm.named_parameters())
    grads = torch.autograd.grad(out, list(inputs.values()), gradient, allow_unused=True)
    return {"out": out.detach()} | {name: g for name, g in zip(inputs, grads, strict=True) if g is not None}


def exact(norm, ending, *tensors):
    """The same in double precision, which is left to PyTorch; where ReLU's argument is within rounding of zero is not asked."""
    return results(copy.deepcopy(norm).double(), ending, *(t.double() for t in tensors))


def assert_close(got, want, bound=2e-6):
    assert got.keys() == want.keys()
    for name, value in want.items():
        error, size = (got[name] - value).abs().max().item(), value.abs().max().item()
        assert error <= bound * size, f"{name}: {error:.2g} of {size:.2g}"


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "shape",
    [
        *((8, 4, 8, 32, 32), (5, 4, 9, 4, 4), (70, 4, 3, 4, 4), (3, 2, 5, 7, 7), (2, 3, 4, 5, 6), (1, 2, 3, 27, 27)),
        *((6, 3, 10, 10), (1, 1, 1, 16, 4), (3, 2, 2, 1, 17), (3, 2, 2, 5, 13), (2, 1, 130, 8, 8)),
    ],
    ids=str,
)
def test_equals_pytorch_forwards_and_backwards(shape, ending, affine, taken):
    norm = made(shape[-3], affine=affine)
    args = tensors(*shape)
    want = exact(norm, ending, *args)
    assert taken == []
    got = results(norm, ending, *args)
    assert taken == ["forward", "backward"]
    assert_close(got, want)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("side", [1, 2, 3])
def test_planes_smaller_than_a_vector(side, ending, taken):
    norm, args = made(5), tensors(3, 4, 5, side, side)
    assert_close(results(norm, ending, *args), exact(norm, ending, *args))
    assert taken == []


@pytest.mark.parametrize(
    "options",
    [{}, {"affine": False}, {"momentum": None}, {"momentum": 0.3}, {"track_running_stats": False}, {"eps": 0.5}],
    ids=str,
)
def test_running_statistics_are_those_of_batch_norm(options, taken):
    norm, plain = GroupBatchNorm2d(5, **options), nn.BatchNorm2d(5, **options)
    for seed in range(3):
        maps, *_ = tensors(3, 4, 5, 6, 6, seed=seed)
        torch.testing.assert_close(norm(maps), plain(maps.flatten(0, 1)).view_as(maps), rtol=1e-5, atol=2e-6)
    assert taken == 3 * ["forward"]
    torch.testing.assert_close(norm.state_dict(), plain.state_dict(), rtol=1e-6, atol=1e-6)
    for module in (norm, plain):
        module.eval()
    torch.testing.assert_close(norm(maps), plain(maps.flatten(0, 1)).view_as(maps), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("lone", [False, True], ids=["all far", "one image far"])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("size", [4, 20])
def test_far_from_zero_better_than_pytorch(size, ending, lone, taken):
    maps, shortcut, gradient = tensors(8, 16, 3, size, size)
    gradient += 1 + maps
    maps += 1e4 * (torch.arange(8) == 0 if lone else torch.ones(8)).view(8, 1, 1, 1, 1)
    got = results(made(3), ending, maps, shortcut, gradient)
    assert taken == ["forward", "backward"]
    assert_close(got, exact(made(3), ending, maps, shortcut, gradient), 2e-5)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("shape", [(16, 7, 5, 16, 16), (40, 16, 8, 4, 4), (9, 5, 40, 7, 9)], ids=str)
def test_threads_change_no_bit(shape, ending, taken, monkeypatch):
    monkeypatch.setattr(kernels, "LEAST_PER_THREAD", 1)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 5):
            torch.set_num_threads(threads)
            norm = made(shape[2])
            found.append(results(norm, ending, *tensors(*shape)) | dict(norm.named_buffers()))
    finally:
        torch.set_num_threads(before)
    assert len(taken) == 8
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=0, atol=0)


@pytest.mark.parametrize("offset", [1, 2, 3])
def test_tensors_that_begin_anywhere(offset):
    shape = (2, 3, 4, 6, 6)
    args = tensors(*shape)
    moved = [torch.cat((torch.zeros(offset), t.flatten()))[offset:].view(shape) for t in args]
    assert moved[0].data_ptr() % 16 != 0
    for ending in ENDINGS:
        got = [torch.autograd.grad(run(made(4), ending, m.requires_grad_(), s), m, g) for m, s, g in (args, moved)]
        torch.testing.assert_close(*got, rtol=0, atol=0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_gradients_laid_out_otherwise(ending, taken):
    maps, shortcut, gradient = tensors(2, 3, 4, 6, 6)
    for other in (gradient.transpose(0, 1).contiguous().transpose(0, 1), gradient[..., :1, :1].expand(maps.shape)):
        want, got = (results(made(4), ending, maps, shortcut, g) for g in (other.contiguous(), other))
        torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert taken == 4 * ["forward", "backward"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_only_what_is_needed_is_made(ending):
    maps, shortcut, gradient = tensors(2, 3, 4, 6, 6)
    want = results(made(4), ending, maps, shortcut, gradient)
    for name in want.keys() - {"out"}:
        norm = made(4).requires_grad_(False)
        inputs = {"maps": maps.clone(), "shortcut": shortcut.clone()} | dict(norm.named_parameters())
        inputs[name].requires_grad_()
        out = run(norm, ending, inputs["maps"], inputs["shortcut"])
        with torch.no_grad():
            made_of_it = compiled_norm._Normalized.backward(out.grad_fn, gradient)[:4]
        needed = dict(zip(["maps", "weight", "bias", "shortcut"], made_of_it, strict=True))
        assert [key for key, g in needed.items() if g is not None] == [name]
        torch.testing.assert_close(needed[name], want[name], rtol=0, atol=0)
    with torch.no_grad():
        torch.testing.assert_close(run(made(4), ending, maps, shortcut), want["out"], rtol=0, atol=0)


@pytest.mark.parametrize("ending", ["rectified", "summed"])
def test_at_zero_the_gradient_is_zero(ending):
    maps, _, gradient = tensors(2, 3, 4, 6, 6)
    norm = GroupBatchNorm2d(4)
    nn.init.zeros_(norm.weight)
    got = results(norm, ending, maps, torch.zeros_like(maps), gradient)
    assert not any(value.any() for value in got.values())


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_not_a_number_stays(ending, taken):
    maps, shortcut, gradient = tensors(2, 3, 4, 6, 6)
    maps[1, 2, 3, 4, 5] = torch.nan
    got = results(made(4), ending, maps, shortcut, gradient)
    kernels.use("off")
    want = results(made(4), ending, maps, shortcut, gradient)
    assert taken == ["forward", "backward"]
    assert got["out"][:, :, 3].isnan().all()
    for name in want:
        assert torch.equal(got[name].isnan(), want[name].isnan()), name


def test_a_shortcut_that_is_not_a_number_stays():
    maps, shortcut, _ = tensors(2, 3, 4, 6, 6)
    shortcut[0, 1, 2, 3, 5] = torch.nan
    out = run(made(4), "summed", maps, shortcut)
    assert torch.equal(out.isnan(), shortcut.isnan())


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("ending", ENDINGS)
def test_second_derivatives(ending, affine, taken):
    maps, shortcut, gradient = tensors(2, 3, 4, 5, 6)

    def second(norm, *tensors):
        maps, shortcut, gradient = (t.clone().requires_grad_() for t in tensors)
        inputs = [maps, *norm.parameters()] + ([shortcut] if ending == "summed" else [])
        out = run(norm, ending, maps, shortcut)
        first = torch.autograd.grad(out, inputs, gradient, create_graph=True)
        loss = sum(g.square().sum() * k for k, g in enumerate(first, 1))
        grads = torch.autograd.grad(loss, [maps, gradient, *norm.parameters()], allow_unused=True)
        # Of the bias they are zero: PyTorch says so where the bias decides what ReLU lets through, and here nothing does.
        return {str(k): g.detach() for k, g in enumerate((*first, *grads[: 2 + affine]))}

    norm = made(4, affine=affine)
    want = second(copy.deepcopy(norm).double(), maps.double(), shortcut.double(), gradient.double())
    assert_close(second(norm, maps, shortcut, gradient), want, 2e-5)
    assert taken == ["forward"]
    assert int(norm.num_batches_tracked) == 1


def test_gradients_of_a_batch_of_gradients(taken):
    maps, shortcut, gradient = tensors(2, 3, 4, 5, 6)
    maps.requires_grad_()
    out = run(made(4), "summed", maps, shortcut)
    want = torch.autograd.grad(out, maps, gradient, retain_graph=True)[0]
    got = torch.autograd.grad(out, maps, torch.stack((gradient, 2 * gradient)), is_grads_batched=True)[0]
    torch.testing.assert_close(got, torch.stack((want, 2 * want)), rtol=1e-4, atol=1e-6)
    assert taken == ["forward", "backward"]


@pytest.mark.parametrize("shape", [(2, 4, 3, 5, 5), (8, 3, 5, 5)], ids=str)
def test_an_activation_in_place_costs_no_copies(shape, taken):
    out = GroupBatchNorm2d(3)(torch.randn(shape, requires_grad=True))
    assert not out._is_view()
    torch.relu_(out).sum().backward()
    assert taken == ["forward", "backward"]


def other(**changes):
    norm, maps, shortcut = made(4), *tensors(2, 3, 4, 6, 6)[:2]
    return {"norm": norm, "maps": maps, "shortcut": shortcut} | changes


MAPS, SHORTCUT, _ = tensors(2, 3, 4, 6, 6)
STRIDED = MAPS.transpose(3, 4).contiguous().transpose(3, 4)


@pytest.mark.parametrize(
    "changes",
    [
        {"maps": MAPS.double(), "shortcut": SHORTCUT.double(), "norm": made(4).double()},
        {"maps": MAPS.bfloat16(), "shortcut": SHORTCUT.bfloat16()},
        {"maps": STRIDED},
        {"shortcut": STRIDED},
        {"shortcut": SHORTCUT[:1]},
        {"shortcut": SHORTCUT.double()},
        {"maps": MAPS[:0], "shortcut": SHORTCUT[:0]},
        {"norm": made(4).double()},
        {"norm": made(4).eval()},
        {"maps": MAPS.to("meta"), "shortcut": SHORTCUT.to("meta"), "norm": made(4).to("meta")},
        {"maps": torch.nn.Parameter(MAPS)},
    ],
    ids=lambda changes: "-".join(f"{k} {getattr(v, 'dtype', '')}" for k, v in changes.items()),
)
def test_what_is_left_to_pytorch(changes):
    case = other(**changes)
    assert not compiled_norm.suits(case["norm"], case["maps"], case["shortcut"])
    case = other()
    assert compiled_norm.suits(case["norm"], case["maps"], case["shortcut"])


def test_channels_last_images(taken):
    maps = tensors(3, 4, 6, 6)[0].contiguous(memory_format=torch.channels_last)
    assert made(4)(maps).is_contiguous(memory_format=torch.channels_last)
    assert taken == []


def test_one_value_per_channel_is_pytorchs_error():
    for shape in [(1, 1, 4, 1, 1), (1, 4, 1, 1)]:
        with pytest.raises(ValueError, match="more than 1 value per channel"):
            GroupBatchNorm2d(4)(torch.randn(shape))


def test_switched_off_watched_or_without_a_compiler(monkeypatch):
    norm = made(4)
    kernels.use("off")
    assert not compiled_norm.suits(norm, MAPS)
    kernels.use("on")
    with FlopCounterMode(display=False):
        assert not compiled_norm.suits(norm, MAPS)
    monkeypatch.setattr(compiled_norm, "_code", lambda: (None, "no compiler"))
    with pytest.raises(kernels.native.UnavailableError, match="kernels are 'on': no compiler"):
        norm(MAPS)
    kernels.use("auto")
    assert_close(results(norm, "summed", *tensors(2, 3, 4, 6, 6)), exact(norm, "summed", *tensors(2, 3, 4, 6, 6)))


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated")  # PyTorch's own
def test_functorch_and_forward_mode_are_left_to_pytorch(taken):
    norm, direction = made(4, track_running_stats=False), SHORTCUT
    _, got = torch.func.jvp(lambda maps: normalized(norm, nn.ReLU(), maps), (MAPS,), (direction,))
    plain = copy.deepcopy(norm).double()
    _, want = torch.func.jvp(lambda maps: plain(maps).relu(), (MAPS.double(),), (direction.double(),))
    torch.testing.assert_close(got.double(), want.double(), rtol=1e-4, atol=1e-5)
    grad = torch.func.grad(lambda maps: normalized(norm, nn.ReLU(), maps).square().sum())(MAPS)
    assert grad.shape == MAPS.shape
    assert taken == []


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a processor without AVX")
@pytest.mark.parametrize(("flags", "lanes"), [("-mno-avx512f", 8), ("-mno-avx", 4)])
def test_narrower_vectors(flags, lanes):
    """The other widths of vectors, whatever this processor has."""
    script = (
        f"import sys, torch; from t3cen.nn import kernels, native; native.FLAGS = (*native.FLAGS, {flags!r}); kernels.use('on');"
        "sys.path.insert(0, 'tests/nn'); from test_compiled_norm import *;"
        f"assert compiled_norm._code()[0].lanes == {lanes};"
        "[assert_close(results(made(5), e, *t), exact(made(5), e, *t)) for e in ENDINGS"
        " for t in (tensors(3, 2, 5, 7, 7), tensors(3, 2, 5, 3, 3), tensors(2, 2, 5, 16, 16))]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
