"""Norm, sum and ReLU compiled into one: PyTorch's own, to rounding, and left to PyTorch where it cannot be."""

import platform
import subprocess
import sys

import pytest
import torch

from t3cen.ops import batch_norm_act, kernels
from t3cen.ops.cpu import build, columns
from t3cen.ops.cpu import norm as compiled_norm

pytestmark = pytest.mark.usefixtures("compiled")
ENDINGS = ("plain", "relu", "summed")
NAMES = ("maps", "weight", "bias", "shortcut")


@pytest.fixture
def taken(monkeypatch):
    """What is done compiled, as `forward` and `backward`."""
    ways, run = [], compiled_norm._run
    monkeypatch.setattr(
        compiled_norm, "_run", lambda function, *args, **of: ways.append(function.__name__) or run(function, *args, **of)
    )
    return ways


def tensors(*shape, affine=True, seed=0):
    """Maps, each channel about a mean of its own, weight, bias, a shortcut and a gradient."""
    generator = torch.Generator().manual_seed(seed)
    maps, shortcut, gradient = (torch.randn(shape, generator=generator) for _ in range(3))
    weight, bias = (torch.empty(shape[-3]).uniform_(-1, 2, generator=generator) for _ in range(2))
    maps += 3 * torch.randn(shape[-3], 1, 1, generator=generator)
    return maps, *((weight, bias) if affine else (None, None)), shortcut, gradient


def results(ending, maps, weight, bias, shortcut, gradient):
    """Output, statistics and gradients, by name."""
    inputs = dict(zip(NAMES, (maps, weight, bias, shortcut if ending == "summed" else None), strict=True))
    inputs = {name: None if t is None else t.clone().requires_grad_() for name, t in inputs.items()}
    out, mean, variance = batch_norm_act(*inputs.values(), 1e-5, ending == "relu")
    there = {name: t for name, t in inputs.items() if t is not None}
    grads = torch.autograd.grad(out, list(there.values()), gradient)
    return {"out": out.detach(), "mean": mean, "variance": variance} | dict(zip(there, grads, strict=True))


def exact(ending, *tensors):
    """The same in double precision, which is left to PyTorch; where ReLU's argument is within rounding of zero is not asked."""
    return results(ending, *(None if t is None else t.double() for t in tensors))


def assert_close(got, want, bound=2e-6):
    assert got.keys() == want.keys()
    for name, value in want.items():
        error, size = (got[name] - value).abs().max().item(), value.abs().max().item()
        assert error <= bound * size, f"{name}: {error:.2g} of {size:.2g}"


SHAPES = [
    *((8, 4, 8, 32, 32), (5, 4, 9, 4, 4), (70, 4, 3, 4, 4), (3, 2, 5, 7, 7), (2, 3, 4, 5, 6), (1, 2, 3, 27, 27)),
    *((6, 3, 10, 10), (1, 1, 1, 16, 4), (3, 2, 2, 1, 17), (3, 2, 2, 5, 13), (2, 1, 130, 8, 8)),
]


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_pytorch_forwards_and_backwards(shape, ending, affine, taken):
    args = tensors(*shape, affine=affine)
    want = exact(ending, *args)
    assert taken == []
    got = results(ending, *args)
    assert taken == ["forward", "backward"]
    assert_close(got, want)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("side", [1, 2, 3])
def test_planes_smaller_than_a_vector(side, ending, taken):
    args = tensors(3, 4, 5, side, side)
    assert_close(results(ending, *args), exact(ending, *args))
    lanes = compiled_norm._code(kernels.mode())[1]
    assert taken == ([] if side * side < lanes else ["forward", "backward"])


@pytest.mark.parametrize("lone", [False, True], ids=["all far", "one image far"])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("size", [4, 20])
def test_far_from_zero_better_than_pytorch(size, ending, lone, taken):
    maps, weight, bias, shortcut, gradient = tensors(8, 16, 3, size, size)
    gradient += 1 + maps
    maps += 1e4 * (torch.arange(8) == 0 if lone else torch.ones(8)).view(8, 1, 1, 1, 1)
    args = (ending, maps, weight, bias, shortcut, gradient)
    got = results(*args)
    assert taken == ["forward", "backward"]
    assert_close(got, exact(*args), 2e-5)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("shape", [(16, 7, 5, 16, 16), (40, 16, 8, 4, 4), (9, 5, 40, 7, 9)], ids=str)
def test_threads_change_no_bit(shape, ending, taken, monkeypatch):
    monkeypatch.setattr(columns, "LEAST_PER_THREAD", 1)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 5):
            torch.set_num_threads(threads)
            found.append(results(ending, *tensors(*shape)))
    finally:
        torch.set_num_threads(before)
    assert len(taken) == 8
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=0, atol=0)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("offset", [1, 2, 3])
def test_tensors_that_begin_anywhere(offset, ending):
    maps, *others = tensors(2, 3, 4, 6, 6)
    moved = torch.cat((torch.zeros(offset), maps.flatten()))[offset:].view(maps.shape)
    assert moved.data_ptr() % 16 != 0
    torch.testing.assert_close(straight(ending, moved, *others), straight(ending, maps, *others), rtol=0, atol=0)


def straight(ending, maps, weight, bias, shortcut, gradient):
    """Output and gradients straight from the kernels."""
    shortcut = shortcut if ending == "summed" else None
    out, *moments = batch_norm_act(maps, weight, bias, shortcut, 1e-5, ending == "relu")
    result = None if shortcut is None else out
    backward = torch.ops.t3cen.batch_norm_act_backward
    return out, *backward(gradient, maps, weight, bias, *moments, result, 1e-5, ending == "relu")


@pytest.mark.parametrize("ending", ENDINGS)
def test_gradients_laid_out_otherwise(ending, taken):
    maps, weight, bias, shortcut, gradient = tensors(2, 3, 4, 6, 6)
    for other in (gradient.transpose(0, 1).contiguous().transpose(0, 1), gradient[..., :1, :1].expand(maps.shape)):
        want, got = (results(ending, maps, weight, bias, shortcut, g) for g in (other.contiguous(), other))
        torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert taken == 4 * ["forward", "backward"]


@pytest.mark.parametrize("mode", ["on", "off"])
@pytest.mark.parametrize("ending", ["relu", "summed"])
def test_at_zero_the_gradient_is_zero(ending, mode):
    kernels.use(mode)
    maps, weight, bias, shortcut, gradient = tensors(2, 3, 4, 6, 6)
    got = results(ending, maps, torch.zeros_like(weight), torch.zeros_like(bias), torch.zeros_like(shortcut), gradient)
    assert not any(got[name].any() for name in got.keys() - {"mean", "variance"})


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_not_a_number_stays(ending, taken):
    maps, *others = tensors(2, 3, 4, 6, 6)
    maps[1, 2, 3, 4, 5] = torch.nan
    got = results(ending, maps, *others)
    kernels.use("off")
    want = results(ending, maps, *others)
    assert taken == ["forward", "backward"]
    assert got["out"][:, :, 3].isnan().all()
    for name in want:
        assert torch.equal(got[name].isnan(), want[name].isnan()), name


def test_a_shortcut_that_is_not_a_number_stays():
    maps, weight, bias, shortcut, gradient = tensors(2, 3, 4, 6, 6)
    shortcut[0, 1, 2, 3, 5] = torch.nan
    out = results("summed", maps, weight, bias, shortcut, gradient)["out"]
    assert torch.equal(out.isnan(), shortcut.isnan())


MAPS, WEIGHT, BIAS, SHORTCUT, GRADIENT = tensors(2, 3, 4, 6, 6)
STRIDED = MAPS.transpose(3, 4).contiguous().transpose(3, 4)


@pytest.mark.parametrize(
    ("maps", "weight", "shortcut"),
    [
        (MAPS.double(), WEIGHT.double(), SHORTCUT.double()),
        (MAPS.bfloat16(), WEIGHT, SHORTCUT.bfloat16()),
        (STRIDED, WEIGHT, SHORTCUT),
        (MAPS, WEIGHT, STRIDED),
        (MAPS[:, :, :, :1, :3].contiguous(), WEIGHT, None),
        (MAPS[0].contiguous(memory_format=torch.channels_last), WEIGHT, None),
    ],
    ids=["double", "half", "strided", "strided shortcut", "small", "channels last"],
)
def test_what_is_left_to_pytorch(maps, weight, shortcut, taken):
    arguments = (maps, weight, None, shortcut, 1e-5, True)
    got, want = batch_norm_act(*arguments), batch_norm_act.plain(*arguments)
    assert taken == []
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert got[0].stride() == (maps.stride() if maps.ndim == 4 else got[0].contiguous().stride())


def test_a_weight_of_another_length_is_pytorchs_error():
    with pytest.raises(RuntimeError, match=r"weight.*4"):
        batch_norm_act(MAPS, torch.ones(3), None, None, 1e-5, False)


def test_switched_off_or_without_a_compiler(taken, monkeypatch):
    args = tensors(2, 3, 4, 6, 6)
    kernels.use("off")
    assert_close(results("summed", *args), exact("summed", *args), 1e-5)
    kernels.use("auto")
    compiled_norm._code.cache_clear()
    monkeypatch.setattr(build, "load", lambda source: None)
    assert_close(results("summed", *args), exact("summed", *args), 1e-5)
    compiled_norm._code.cache_clear()
    assert taken == []


def test_no_memory_is_an_error(monkeypatch):
    """A library whose `malloc` fails, as on a full machine."""
    package_file = build.package_file
    source = package_file("norm.c").replace("aligned_alloc(BYTES, shares(bytes, BYTES) * BYTES)", "NULL; (void)bytes")
    assert source != package_file("norm.c")
    monkeypatch.setattr(build, "package_file", lambda name: source if name == "norm.c" else package_file(name))
    compiled_norm._code.cache_clear()
    try:
        with pytest.raises(MemoryError, match=r"4 channels of maps \(2, 3, 4, 6, 6\)"):
            batch_norm_act(MAPS, None, None, None, 1e-5, True)
    finally:
        compiled_norm._code.cache_clear()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a processor without AVX")
@pytest.mark.slow
@pytest.mark.parametrize(("flags", "lanes"), [("-mno-avx512f", 8), ("-mno-avx", 4)])
def test_narrower_vectors(flags, lanes):
    """The other widths of vectors, whatever this processor has."""
    script = (
        "import sys; from t3cen.ops import kernels; from t3cen.ops.cpu import build;"
        f"build.FLAGS = (*build.FLAGS, {flags!r}); kernels.use('on'); sys.path.insert(0, 'tests/ops');"
        "from test_compiled_norm import *;"
        f"assert compiled_norm._code('on')[1] == {lanes};"
        "[assert_close(results(e, *t), exact(e, *t)) for e in ENDINGS"
        " for t in (tensors(3, 2, 5, 7, 7), tensors(3, 2, 5, 3, 3), tensors(2, 2, 5, 16, 16))]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
