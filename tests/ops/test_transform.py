"""The group transform: compiled additions give the numbers of the matrix product."""

import itertools
import multiprocessing
import subprocess
import sys

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from t3cen.algebra.bilinear import cyclic_convolution
from t3cen.groups import CyclicProduct
from t3cen.nn import GroupConv2d
from t3cen.ops import kernels
from t3cen.ops.cpu import build, columns
from t3cen.ops.cpu.transform import apply, routine
from t3cen.ops.transform import group_transform

pytestmark = pytest.mark.usefixtures("compiled")
PRECISIONS = [(torch.float32, 2e-6), (torch.float64, 1e-14)]


@pytest.fixture
def forgotten(monkeypatch, tmp_path):
    """As in a new process of a new user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    caches = (columns._compiled, build._library, build._version)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(build, "_warned", [])
    yield tmp_path / "t3cen"
    for cache in caches:
        cache.cache_clear()


def exact(orders, name, transposed=False):
    matrix = torch.as_tensor(getattr(cyclic_convolution(orders), name))
    return matrix.T if transposed else matrix


def functions(matrix, batch, count, dtype=torch.float32):
    return torch.randn(batch, matrix.shape[1], count, dtype=dtype, generator=torch.Generator().manual_seed(0))


def is_compiled(orders, name="signal", transposed=False, count=None, dtype=torch.float32):
    return columns.compiled(routine, orders, name, transposed, count, dtype=dtype) is not None


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", ["signal", "output"])
@pytest.mark.parametrize("orders", [(2,), (3,), (4,), (7,), (8,), (4, 4), (3, 3), (2, 3, 4), (4, 4, 4)])
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
def test_equals_matrix_product(orders, name, transposed, dtype, tolerance):
    matrix = exact(orders, name, transposed)
    assert is_compiled(orders, name, transposed, dtype=dtype)
    for count in (1024, 1031, 2311):
        x = functions(matrix, 2, count, dtype)
        wanted = matrix @ x.double()
        found = group_transform(x, list(orders), name, transposed, False)
        torch.testing.assert_close(found.double(), wanted, rtol=0, atol=tolerance * float(wanted.abs().max()))


@pytest.mark.parametrize("rows_first", [True, False])
@pytest.mark.parametrize("count", [1, 3, 4, 9, 25, 300])
@pytest.mark.parametrize("orders", [(3,), (4, 4)])
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
def test_many_functions_of_few_numbers(orders, count, rows_first, dtype, tolerance):
    for transposed in (False, True):
        matrix = exact(orders, "filters", transposed)
        x = functions(matrix, 500, count, dtype)
        wanted = matrix @ x.double()
        for laid_out in (x, x.transpose(0, 1).contiguous().transpose(0, 1), x.transpose(1, 2).contiguous().transpose(1, 2)):
            out = group_transform(laid_out, list(orders), "filters", transposed, rows_first)
            assert out.is_contiguous()
            out = out.transpose(0, 1) if rows_first else out
            torch.testing.assert_close(out.double(), wanted, rtol=0, atol=tolerance * float(wanted.abs().max()))


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
    x = functions(exact((4, 4), "signal"), 3, 1500)
    whole = apply(x, [4, 4], "signal", False)
    for start in (1, 7, 500):
        assert torch.equal(apply(x[:, :, start:].contiguous(), [4, 4], "signal", False), whole[:, :, start:])
        assert torch.equal(apply(x[:, :, start:], [4, 4], "signal", False), whole[:, :, start:])  # rows apart
    assert torch.equal(apply(x[1:2], [4, 4], "signal", False), whole[1:2])


def test_threads_change_no_bit():
    x = functions(exact((4, 4), "signal"), 3, 30001)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(apply(x, [4, 4], "signal", False))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(result, results[0]) for result in results)


def test_writes_only_where_it_is_told_to():
    x = functions(exact((4,), "signal"), 3, 1021)
    wanted, held = apply(x, [4], "signal", False), torch.full((3, 7, 1030), 5.0)
    apply(x, [4], "signal", False, held[:, 1:6, 4:1025])
    assert torch.equal(held[:, 1:6, 4:1025], wanted)
    held[:, 1:6, 4:1025] = 5
    assert held.eq(5).all()
    other = torch.empty(3, 5, 1021, dtype=torch.float64)
    assert torch.equal(apply(x, [4], "signal", False, other), wanted.double())
    columns_apart = torch.empty(3, 1021, 5).transpose(1, 2)
    assert torch.equal(apply(x, [4], "signal", False, columns_apart), wanted)


def test_a_negated_view_and_half_precision():
    x = torch.randn(2, 4, 1000, dtype=torch.complex64)
    torch.testing.assert_close(
        group_transform(x.conj().imag, [4], "signal", False, False), group_transform(-x.imag, [4], "signal", False, False)
    )
    half = x.real.bfloat16()
    found = group_transform(half, [4], "signal", False, False)
    torch.testing.assert_close(found, group_transform(half.float(), [4], "signal", False, False))


def test_an_unknown_mode(monkeypatch):
    monkeypatch.setattr(kernels, "_chosen", [])
    monkeypatch.setenv("T3CEN_KERNELS", "yes")
    with pytest.raises(ValueError, match=r"T3CEN_KERNELS.*auto, on, off, got 'yes'"):
        GroupConv2d(8, 8, 3, CyclicProduct(4), backend="fourier")(torch.zeros(1, 4, 8, 32, 32))


@pytest.mark.parametrize("orders", [(64, 64), (101,)])
def test_long_programs_are_matrix_products(orders):
    assert not is_compiled(orders)


def test_off_is_off(monkeypatch):
    kernels.use("off")
    assert not is_compiled((4,))
    assert kernels.status() == "matrix products: switched off"
    monkeypatch.setattr(kernels, "_chosen", [])
    monkeypatch.setenv("T3CEN_KERNELS", "off")
    assert kernels.mode() == "off"
    with pytest.raises(ValueError, match="auto, on, off, got 'never'"):
        kernels.use("never")


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_without_a_compiler(forgotten, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    matrix = exact((4,), "signal").float()
    x = functions(matrix, 2, 1000)
    kernels.use("auto")
    wanted = torch.bmm(matrix.expand(2, -1, -1), x)
    with pytest.warns(UserWarning, match=compiler):
        assert torch.equal(group_transform(x, [4], "signal", False, False), wanted)
    assert torch.equal(group_transform(x, [4], "signal", False, False), wanted)  # without another warning
    assert kernels.status().startswith("matrix products: ")
    assert compiler in kernels.status()
    kernels.use("on")
    with pytest.raises(build.UnavailableError, match=compiler):
        group_transform(x, [4], "signal", False, False)


def test_nowhere_to_write(forgotten):
    forgotten.write_text("a file where the folder would be")
    kernels.use("auto")
    matrix = exact((4,), "signal").float()
    x = functions(matrix, 2, 1000)
    with pytest.warns(UserWarning, match="XDG_CACHE_HOME"):
        found = group_transform(x, [4], "signal", False, False)
    torch.testing.assert_close(found, matrix @ x)
    assert "XDG_CACHE_HOME" in kernels.status()


def test_status_names_the_compiler():
    assert kernels.status() == f"compiled: {build.compiler_version()}"


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
    for a, b in itertools.chain(*(zip(results[0], other, strict=True) for other in results[1:])):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12 * float(b.detach().abs().max()))


class Transformed(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return group_transform(functions(exact((4,), "signal"), 2, 100000), [4], "signal", False, False)


def test_forked_workers_after_use():
    expected = Transformed()[0]
    loader = DataLoader(
        Transformed(), batch_size=None, num_workers=1, multiprocessing_context=multiprocessing.get_context("fork")
    )
    assert all(torch.equal(item, expected) for item in loader)


@pytest.mark.slow
def test_import_compiles_nothing(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import t3cen.nn"], env={"XDG_CACHE_HOME": str(tmp_path)}, check=False)
    assert done.returncode == 0
    assert not list(tmp_path.iterdir())
