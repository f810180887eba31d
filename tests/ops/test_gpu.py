"""The GPU's kernels, run here on the CPU: the same numbers as the reference, whatever the shape, the precision and the chunks."""

import pytest
import torch

from t3cen.ops import devices, gpu
from t3cen.ops.direct import direct_group_conv2d
from t3cen.ops.fourier import transform_filters
from t3cen.ops.geometry import ConvGeometry
from t3cen.ops.late import Late
from t3cen.ops.operator import DECOMPOSITIONS
from t3cen.ops.unit_range import _refuse

FORWARD, BACKWARD = (
    DECOMPOSITIONS[getattr(torch.ops.t3cen, name).default] for name in ("fourier_conv2d", "fourier_conv2d_backward")
)
CASES = [  # orders, channels, kernel, stride, padding, dilation, map
    ((4,), (3, 5), (3, 3), (1, 1), (1, 1), (1, 1), (6, 7)),
    ((4,), (3, 2), (3, 3), (2, 2), (1, 1), (1, 1), (7, 6)),
    ((3, 2), (2, 3), (1, 1), (1, 1), (0, 0), (1, 1), (4, 5)),
    ((2, 3), (2, 3), (1, 1), (2, 2), (1, 0), (1, 1), (4, 5)),
    ((5,), (2, 2), (3, 2), (2, 1), (2, 1), (2, 3), (9, 8)),
    ((4, 4, 4), (1, 2), (3, 3), (1, 1), (1, 1), (1, 1), (3, 3)),
]
WAYS = {"matrices": (gpu.forward, gpu.backward), "separate": (gpu.forward_separate, gpu.backward_separate)}
ways = pytest.mark.parametrize(("forward", "backward"), WAYS.values(), ids=WAYS)
cases = pytest.mark.parametrize(("orders", "channels", "kernel", "stride", "padding", "dilation", "size"), CASES)


def numbers(*shape, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)), dtype=dtype)


def close(mine, theirs, tolerance=1e-12):
    torch.testing.assert_close(mine, theirs, rtol=0, atol=tolerance * max(1, float(theirs.abs().max())) if theirs.numel() else 0)


@cases
@pytest.mark.parametrize(
    ("forward", "backward", "chunk"), [(*WAYS["matrices"], 1), (*WAYS["matrices"], 2**30), (*WAYS["separate"], 1)]
)
def test_it_is_the_group_convolution(
    monkeypatch, forward, backward, chunk, orders, channels, kernel, stride, padding, dilation, size
):
    monkeypatch.setattr(gpu, "CHUNK_BYTES", chunk)
    weight, bias = numbers(channels[1], channels[0], *orders, *kernel), numbers(channels[1])
    x = numbers(3, torch.Size(orders).numel(), channels[0], *size)
    how = (list(orders), [*stride, *padding, *dilation])
    filters = transform_filters(weight, orders)
    out = forward(x, filters, bias, *how)
    close(out, direct_group_conv2d(x, weight, bias, orders, ConvGeometry(stride, padding, dilation)))
    gradient = torch.randn_like(out)
    for needed in ([True, True], [False, True], [True, False]):
        for mine, theirs in zip(
            backward(gradient, x, filters, *how, needed), BACKWARD(gradient, x, filters, *how, needed), strict=True
        ):
            assert mine.dtype == theirs.dtype
            close(mine, theirs)


@ways
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 2e-2), (torch.float16, 3e-3), (torch.float32, 1e-5)])
def test_precision_is_that_of_the_filters(forward, backward, dtype, tolerance):
    x, weight, how = numbers(4, 16, 3, 5, 5).float(), numbers(4, 3, 4, 4, 3, 3).float(), ([4, 4], [1] * 6)
    filters = transform_filters(weight, (4, 4))
    exact = FORWARD(x, filters, None, *how)
    out = forward(x, filters.to(dtype), None, *how)
    assert out.dtype == dtype
    close(out.float(), exact, tolerance)
    gradient = torch.randn_like(exact)
    parts = backward(gradient.to(dtype), x, filters.to(dtype), *how, [True, True])
    assert [part.dtype for part in parts] == [torch.float32, dtype]
    for mine, theirs in zip(parts, BACKWARD(gradient, x, filters, *how, [True, True]), strict=True):
        close(mine.float(), theirs, 2 * tolerance)


@ways
def test_an_empty_batch_has_gradients_of_zero(forward, backward):
    x, filters, how = numbers(0, 4, 2, 5, 5), numbers(15, 2, 3, 3), ([4], [1] * 6)
    out = forward(x, filters, None, *how)
    assert out.shape == (0, 4, 3, 5, 5)
    to_input, to_filters = backward(out, x, filters, *how, [True, True])
    assert to_input.shape == x.shape
    assert torch.equal(to_filters, torch.zeros_like(filters))


def test_windows_stay_within_a_chunk(monkeypatch):
    seen = []
    monkeypatch.setattr(gpu, "CHUNK_BYTES", 2**16)
    multiply = gpu._multiply
    monkeypatch.setattr(gpu, "_multiply", lambda left, right: seen.append(right.nbytes) or multiply(left, right))
    gpu.forward(numbers(16, 4, 3, 8, 8).float(), numbers(10, 3, 3, 3).float(), None, [4], [1] * 6)
    assert len(seen) > 1
    assert max(seen) <= 2**16


@pytest.mark.parametrize("switch", [True, False])
def test_products_obey_the_switch_of_convolutions_and_transforms_are_exact(monkeypatch, switch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", switch)
    seen = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function in (torch.ops.aten.mm.default, torch.ops.aten.bmm.default):
                seen.append((function.__name__.partition(".")[0], torch.backends.cuda.matmul.allow_tf32))
            return function(*args, **(kwargs or {}))

    with gpu._tf32(not switch), Watch():
        gpu.forward(numbers(2, 4, 3, 8, 8), numbers(10, 3, 3, 3), None, [4], [1] * 6)
        assert torch.backends.cuda.matmul.allow_tf32 is not switch
    assert seen == [("mm", False), ("bmm", switch), ("mm", False)]
    assert torch.backends.cuda.matmul.allow_tf32 is False


@pytest.mark.parametrize("products", devices.PRODUCTS)
def test_a_gpu_multiplies_as_was_measured_of_it_also_in_groups_of_channels(monkeypatch, products):
    calls = []

    def watched(name, kernel):
        return lambda *arguments: calls.append(name) or kernel(*arguments)

    run = gpu._chosen("fourier_conv2d", watched("matmul", gpu.forward), watched("separate", gpu.forward_separate))
    back = gpu._chosen("fourier_conv2d_backward", watched("matmul", gpu.backward), watched("separate", gpu.backward_separate))
    monkeypatch.setattr(gpu, "measured", lambda device: devices.Measured(64, products))
    how = ([4], [1] * 6)
    for inputs, name in ((4, products), (2, "convolution" if products == "matmul" else products)):  # a half: two groups
        x, filters = numbers(2, 4, 4, 6, 5), numbers(5 * 6, inputs, 3, 3)
        out = run(x, filters, None, *how)
        close(out, FORWARD(x, filters, None, *how))
        for mine, theirs in zip(
            back(out, x, filters, *how, [True, True]), BACKWARD(out, x, filters, *how, [True, True]), strict=True
        ):
            close(mine, theirs)
        assert calls == ([] if name == "convolution" else [name] * 2)
        calls.clear()


def test_what_is_known_of_devices(monkeypatch):
    assert devices.measured(torch.device("cpu")).least_width == 64
    assert devices.kind(torch.device("cuda")) == "cuda" or torch.cuda.is_available()
    monkeypatch.setattr(devices, "kind", lambda device: "NVIDIA Nothing")
    assert devices.measured(torch.device("cuda")) == devices.everything()["cuda"]


def test_an_entry_that_nothing_understands_is_refused(monkeypatch, tmp_path):
    (tmp_path / "m.json").write_text('{"cpu": {"least_width": 64, "products": "magic"}}')
    monkeypatch.setattr(devices, "FILE", tmp_path / "m.json")
    with pytest.raises(ValueError, match="products must be one of matmul, convolution, separate"):
        devices.everything.__wrapped__()


class FakeEvent:
    ready = False

    def record(self, stream):
        assert stream == "the stream"

    def query(self):
        return self.ready

    def synchronize(self):
        type(self).ready = True


class OnGpu:
    """Numbers as `Late` sees them on a GPU."""

    device, dtype, shape = torch.device("cuda"), torch.float32, torch.Size([1])

    def __init__(self, *numbers):
        self.numbers = list(numbers)


@pytest.fixture
def fake_gpu(monkeypatch):
    """Copies of `OnGpu` arrive when `FakeEvent.ready` says so."""
    monkeypatch.setattr(FakeEvent, "ready", False)
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: "the stream")
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)

    class Pinned:
        def __init__(self, shape, dtype, pin_memory):
            assert pin_memory

        def copy_(self, numbers, non_blocking):
            assert non_blocking
            self.numbers = numbers.numbers

        def tolist(self):
            assert FakeEvent.ready, "looked at before they arrived"
            return self.numbers

    monkeypatch.setattr("t3cen.ops.late.torch.empty", Pinned)


def test_numbers_of_a_gpu_are_looked_at_when_they_have_arrived(fake_gpu, monkeypatch):
    seen = []
    late = Late(lambda numbers, step: seen.append((numbers, step)))
    late.put(OnGpu(1.0), 1)
    late.put(OnGpu(2.0), 2)
    late.look()
    assert seen == []
    FakeEvent.ready = True
    late.put(OnGpu(3.0), 3)
    assert seen == [([1.0], 1), ([2.0], 2)]
    FakeEvent.ready = False
    late.look(wait=True)
    assert seen[2:] == [([3.0], 3)]
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    late.put(OnGpu(4.0), 4)
    late.look(wait=True)
    assert len(seen) == 3


def test_an_image_out_of_range_is_refused_when_its_extremes_arrive(fake_gpu):
    late = Late(_refuse)
    late.put(OnGpu(0.0, 1.0))
    late.put(OnGpu(0.0, 3.0))
    with pytest.raises(ValueError, match=r"got \[0, 3\]"):
        late.look(wait=True)
    late.look(wait=True)  # once is enough
