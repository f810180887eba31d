"""Compiled transforms: the same numbers as matrix products, or matrix products."""

import math
import multiprocessing
import subprocess
import sys

import pytest
import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.flop_counter import FlopCounterMode

from t3cen.algebra.bilinear import cyclic_convolution
from t3cen.groups import CyclicProduct
from t3cen.nn import GroupConv2d
from t3cen.ops.cpu import kernels
from t3cen.ops.cpu.kernels import Which
from t3cen.ops.transform import Transform

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture
def forgotten(monkeypatch, tmp_path):
    """As in a new process of a new user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernels._made.cache_clear()
    yield tmp_path / "t3cen"
    kernels._made.cache_clear()


def transform(orders, name="signal", dtype=torch.float64):
    matrix = torch.as_tensor(getattr(cyclic_convolution(orders), name), dtype=dtype)
    return Transform(matrix, Which(orders, name))


def functions(transform, batch, count):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(batch, transform.matrix.shape[1], count, dtype=transform.matrix.dtype, generator=generator)


@pytest.mark.parametrize("count", [1024, 1031, 2311])
@pytest.mark.parametrize("name", ["signal", "output"])
@pytest.mark.parametrize("orders", [(2,), (3,), (4,), (7,), (8,), (4, 4), (3, 3), (2, 3, 4), (4, 4, 4)])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.float64, 1e-14)])
def test_equals_matrix_product(orders, name, count, dtype, tolerance):
    for t in (transform(orders, name, dtype), transform(orders, name, dtype).T):
        x = functions(t, 2, count)
        assert kernels.find(t.which, x) is not None
        exact = t.matrix.double() @ x.double()
        torch.testing.assert_close(t(x).double(), exact, rtol=0, atol=tolerance * float(exact.abs().max()))


@pytest.mark.parametrize("rows_outside", [True, False])
@pytest.mark.parametrize("count", [1, 3, 4, 9, 16, 25, 300])
@pytest.mark.parametrize("orders", [(1,), (3,), (4, 4)])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.float64, 1e-14)])
def test_many_functions_of_few_numbers(orders, count, rows_outside, dtype, tolerance):
    for t in (transform(orders, "filters", dtype), transform(orders, "filters", dtype).T):
        x = functions(t, 500, count)
        exact = t.matrix.double() @ x.double()
        for laid_out in (x, x.transpose(0, 1).contiguous().transpose(0, 1), x.transpose(1, 2).contiguous().transpose(1, 2)):
            out = t.of_many(laid_out, rows_outside)
            torch.testing.assert_close(out.double(), exact, rtol=0, atol=tolerance * float(exact.abs().max()))
            if len(orders) > 1 or orders[0] > 1:
                assert (out.transpose(0, 1) if rows_outside else out).is_contiguous()


@pytest.mark.parametrize("rows_outside", [True, False])
def test_gradients_of_many_functions(rows_outside):
    t = transform((3, 3))
    x = functions(t, 60, 9).requires_grad_()
    assert kernels.find(Which((3, 3), "signal", count=9), x) is not None
    assert torch.autograd.gradcheck(lambda x: t.of_many(x, rows_outside), x, fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda x: t.of_many(x, rows_outside), x, fast_mode=True)


def test_the_gradient_of_filters_is_not_copied():
    conv = GroupConv2d(16, 16, 3, CyclicProduct(4, 4), padding=1, bias=False)
    conv(torch.randn(2, 16, 16, 8, 8)).sum().backward()
    assert conv.weight.grad.is_contiguous()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        conv.zero_grad()
        conv(torch.randn(2, 16, 16, 8, 8)).sum().backward()
    copied = [
        event for event in profile.events() if event.name == "aten::copy_" and list(conv.weight.shape) in event.input_shapes
    ]
    assert not copied


def test_where_a_column_lies_changes_no_bit():
    t = transform((4, 4), dtype=torch.float32)
    x = functions(t, 3, 1500)
    whole = t(x)
    for start in (1, 7, 500):
        assert torch.equal(t(x[:, :, start:].contiguous()), whole[:, :, start:])
        assert torch.equal(t(x[:, :, start:]), whole[:, :, start:])  # rows apart
    assert torch.equal(t(x[1:2]), whole[1:2])


def test_threads_change_no_bit():
    t = transform((4, 4), dtype=torch.float32)
    x = functions(t, 3, 30001)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(t(x))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(result, results[0]) for result in results)


def test_writes_only_where_it_is_told_to():
    t = transform((4,), dtype=torch.float32)
    x = functions(t, 3, 1021)
    held = torch.full((3, 7, 1030), 5.0)
    t(x, held[:, 1:6, 4:1025])
    assert torch.equal(held[:, 1:6, 4:1025], t(x))
    held[:, 1:6, 4:1025] = 5
    assert held.eq(5).all()
    other = torch.empty(3, 5, 1021, dtype=torch.float64)
    assert torch.equal(t(x, other), t(x).double())
    columns_apart = torch.empty(3, 1021, 5).transpose(1, 2)
    assert torch.equal(t(x, columns_apart), t(x))


def test_gradients():
    t = transform((3, 3))
    x = functions(t, 2, 240).requires_grad_()
    assert kernels.find(t.which, x) is not None
    assert torch.autograd.gradcheck(t, x, fast_mode=True)
    assert torch.autograd.gradgradcheck(t, x, fast_mode=True)


@pytest.mark.parametrize(
    "input",
    [
        torch.zeros(2, 4, 20),
        torch.zeros(2, 4, 1000, dtype=torch.bfloat16),
        torch.zeros(2, 4, 1000, dtype=torch.complex64).conj().imag,
        torch.zeros(2, 4, 1000, device="meta"),
        torch.nn.Parameter(torch.zeros(2, 4, 1000)),
    ],
    ids=["small", "bfloat16", "negated view", "meta", "subclass"],
)
def test_others_are_matrix_products(input):
    assert kernels.find(Which((4,), "signal"), input) is None


def test_an_unknown_mode(monkeypatch):
    monkeypatch.setattr(kernels, "_chosen", [])
    monkeypatch.setenv("T3CEN_KERNELS", "yes")
    with pytest.raises(ValueError, match=r"T3CEN_KERNELS.*auto, on, off, got 'yes'"):
        GroupConv2d(8, 8, 3, CyclicProduct(4), backend="fourier")(torch.zeros(1, 4, 8, 32, 32))


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:FutureWarning")  # PyTorch, at its first tangent
def test_function_transforms_see_a_matrix_product():
    t = transform((4,))
    x = functions(t, 3, 600)
    torch.testing.assert_close(torch.func.vmap(lambda f: t(f[None])[0])(x), t(x))
    _, tangent = torch.func.jvp(t, (x,), (x,))
    torch.testing.assert_close(tangent, t(x))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        torch.testing.assert_close(torch.autograd.forward_ad.unpack_dual(t(dual)).tangent, t(x))
    with FlopCounterMode(display=False) as counter:
        t(x)
    assert counter.get_total_flops() == 2 * 3 * 5 * 4 * 600


@pytest.mark.parametrize(("orders", "message"), [((64, 64), "4096 elements"), ((101,), "additions")])
def test_long_programs_are_matrix_products(orders, message):
    input = torch.zeros(1, math.prod(orders), 64)
    with pytest.raises(native.UnavailableError, match=message):
        kernels.find(Which(orders, "signal"), input)
    kernels.use("auto")
    assert kernels.find(Which(orders, "signal"), input) is None


def test_off_is_off(monkeypatch):
    x = torch.zeros(1, 4, 1000)
    kernels.use("off")
    assert kernels.find(Which((4,), "signal"), x) is None
    assert kernels.status() == "matrix products: switched off"
    monkeypatch.setattr(kernels, "_chosen", [])
    monkeypatch.setenv("T3CEN_KERNELS", "off")
    assert kernels.mode() == "off"
    with pytest.raises(ValueError, match="auto, on, off, got 'never'"):
        kernels.use("never")


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_without_a_compiler(forgotten, monkeypatch, capfd, compiler):
    monkeypatch.setenv("CC", compiler)
    native._version.cache_clear()
    t = transform((4,))
    x = functions(t, 2, 1000)
    kernels.use("auto")
    assert torch.equal(t(x), torch.bmm(t.matrix.expand(2, -1, -1), x))
    assert kernels.status().startswith("matrix products: ")
    assert compiler in kernels.status()
    kernels.use("on")
    with pytest.raises(native.UnavailableError, match=compiler):
        t(x)
    assert capfd.readouterr() == ("", "")


def test_nowhere_to_write(forgotten, monkeypatch):
    forgotten.write_text("a file where the folder would be")
    kernels.use("auto")
    t = transform((4,))
    x = functions(t, 2, 1000)
    torch.testing.assert_close(t(x), t.matrix @ x)
    assert "XDG_CACHE_HOME" in kernels.status()


def test_status_names_the_compiler():
    assert kernels.status() == f"compiled: {native.compiler_version()}"


def test_layers_agree():
    torch.manual_seed(0)
    conv = GroupConv2d(8, 8, 3, CyclicProduct(4, 4), padding=1, backend="fourier").double()
    direct = GroupConv2d(8, 8, 3, CyclicProduct(4, 4), padding=1, backend="direct").double()
    direct.load_state_dict(conv.state_dict())
    x = torch.randn(3, 16, 8, 9, 7, dtype=torch.float64, requires_grad=True)
    gradient = torch.randn(3, 16, 8, 9, 7, dtype=torch.float64)
    results = []
    for layer, mode in ((conv, "on"), (conv, "off"), (direct, "off")):
        kernels.use(mode)
        out = layer(x)
        results.append([out, *torch.autograd.grad(out, [x, *layer.parameters()], gradient)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-12 * float(b.detach().abs().max()))


class Transformed(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        t = transform((4,), dtype=torch.float32)
        return t(functions(t, 2, 100000))


def test_forked_workers_after_use():
    expected = Transformed()[0]
    loader = DataLoader(
        Transformed(), batch_size=None, num_workers=1, multiprocessing_context=multiprocessing.get_context("fork")
    )
    assert all(torch.equal(item, expected) for item in loader)


def test_import_compiles_nothing(tmp_path):
    script = "import t3cen, t3cen.nn, sys; from t3cen.nn import kernels; print(kernels._made.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={"XDG_CACHE_HOME": str(tmp_path)})
    assert done.stdout == "0\n"
    assert not list(tmp_path.iterdir())
