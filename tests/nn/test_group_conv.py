"""GroupConv2d: the definition by brute force, both backends, nn.Conv2d at order 1, errors."""

import copy
import itertools
import pickle
import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.nn import GroupConv2d

BACKENDS = ("direct", "fourier", "auto")
PLANE = (
    {"padding": 1},
    {"padding": (1, 2), "kernel_size": (3, 5)},
    {"padding": 2, "dilation": 2},
    {"stride": 2},
    {"stride": (1, 2), "padding": (0, 1)},
    {"padding": "same"},
    {"padding": "same", "kernel_size": (2, 4)},
    {"padding": "valid"},
    {"padding": 1, "padding_mode": "circular"},
    {"padding": (2, 1), "padding_mode": "reflect"},
    {"padding": 1, "padding_mode": "replicate"},
    {"padding": "same", "padding_mode": "reflect", "kernel_size": (4, 3), "dilation": (1, 2)},
    {"padding": "valid", "padding_mode": "circular"},
    {"kernel_size": 1},
    {"kernel_size": 1, "stride": 2},
    {"kernel_size": 1, "padding": 1},
    {"bias": False},
)


def layer(orders, *, backend="fourier", channels=(2, 3), kernel_size=3, dtype=torch.float64, **options):
    torch.manual_seed(0)
    return GroupConv2d(*channels, kernel_size, CyclicProduct(*orders), backend=backend, **options).to(dtype)


def function(orders, channels=2, plane=(5, 4), batch=2, dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, torch.Size(orders).numel(), channels, *plane, dtype=dtype, generator=generator)


def by_definition(x, conv):
    """Sum over the group, element by element, with the group law written out."""
    orders = conv.group.orders
    elements = list(itertools.product(*map(range, orders)))
    out = []
    for a in elements:
        terms = []
        for i, b in enumerate(elements):
            psi = conv.weight[(slice(None), slice(None), *((p - q) % n for p, q, n in zip(a, b, orders, strict=True)))]
            terms.append(F.conv2d(x[:, i], psi, None, conv.stride, conv.padding, conv.dilation))
        out.append(sum(terms) + conv.bias[:, None, None])
    return torch.stack(out, 1)


def relative(got, want):
    return ((got - want).abs().max() / want.abs().max()).item()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("orders", [(3,), (2, 3, 4), (5, 2), (1, 4, 1)])
def test_is_the_sum_of_the_definition(orders, backend):
    conv, x = layer(orders, backend=backend, padding=1), function(orders)
    assert relative(conv(x), by_definition(x, conv)) < 1e-13


@pytest.mark.parametrize("backend", BACKENDS)
def test_direction_by_hand(backend):
    conv = GroupConv2d(1, 1, 1, ColorGroup(3), bias=False, backend=backend).double()
    with torch.no_grad():
        conv.weight.copy_(torch.tensor([1.0, 10, 100]).view_as(conv.weight))
    out = conv(torch.tensor([2.0, 3, 5], dtype=torch.float64).view(1, 3, 1, 1, 1))
    torch.testing.assert_close(out.flatten(), torch.tensor([352.0, 523, 235], dtype=torch.float64))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("step", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3)])
def test_commutes_with_the_action_of_each_axis(step, backend):
    orders = (2, 3, 4)
    conv, x = layer(orders, backend=backend), function(orders)
    act = conv.group.act
    assert relative(conv(act(x, step)), act(conv(x), step)) < 1e-13
    assert relative(conv(act(x, step)), conv(x)) > 1e-2


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize("options", PLANE, ids=str)
def test_is_conv2d_at_order_one(options, backend):
    conv = layer((1, 1, 1), backend=backend, channels=(4, 6), **options)
    plain = nn.Conv2d(4, 6, **{"kernel_size": 3, **options}).double()
    plain.load_state_dict({name: value.view_as(plain.state_dict()[name]) for name, value in conv.state_dict().items()})
    x = function((1,), channels=4, plane=(11, 10))
    torch.testing.assert_close(conv(x)[:, 0], plain(x[:, 0]))


@pytest.mark.parametrize("options", PLANE, ids=str)
def test_backends_agree_on_every_option(options):
    orders = (3, 2)
    direct, fourier = layer(orders, backend="direct", **options), layer(orders, **options)
    x = function(orders, plane=(7, 6))
    assert relative(fourier(x), direct(x)) < 1e-13


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("orders", [*((n,) for n in range(1, 17)), (2, 3, 4), (4, 4, 4)], ids=str)
def test_backends_agree_with_all_gradients(orders, dtype):
    found = []
    for backend in ("direct", "fourier"):
        conv = layer(orders, backend=backend, padding=1, dtype=dtype)
        x = function(orders, dtype=dtype).requires_grad_()
        out = conv(x)
        grads = torch.autograd.grad((out * out.detach().cos()).sum(), [x, conv.weight, conv.bias])
        found.append([out.detach(), *grads])
    bound = {torch.float32: 1e-5, torch.float64: 1e-12}[dtype]
    assert max(relative(f, d) for d, f in zip(*found, strict=True)) < bound


def test_second_derivatives():
    conv = layer((3,), channels=(1, 1), kernel_size=2)
    x = function((3,), channels=1, plane=(2, 2), batch=1).requires_grad_()
    assert torch.autograd.gradgradcheck(conv, x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_initialisation_is_conv2ds(backend):
    torch.manual_seed(3)
    plain = nn.Conv2d(4 * 6, 5, (3, 2))
    torch.manual_seed(3)
    conv = GroupConv2d(4, 5, (3, 2), ColorGroup(2, 3), backend=backend)
    assert torch.equal(conv.weight.flatten(), plain.weight.flatten())
    assert torch.equal(conv.bias, plain.bias)


def test_state_is_weight_and_bias_whatever_the_backend():
    states = [layer((2, 3), backend=backend).state_dict() for backend in BACKENDS]
    assert all(list(state) == ["weight", "bias"] for state in states)
    assert states[0]["weight"].shape == (3, 2, 2, 3, 3, 3)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"])
def test_copies_work(copier, backend):
    conv, x = layer((3,), backend=backend), function((3,))
    twin = copier(conv)
    assert torch.equal(twin(x), conv(x))
    with torch.no_grad():
        twin.weight.zero_()
    assert not torch.equal(twin(x), conv(x))


@pytest.mark.parametrize("backend", BACKENDS)
def test_single_precision_layer_made_double_is_exact(backend):
    conv = layer((5,), backend=backend, dtype=torch.float32).double()
    x = function((5,))
    assert relative(conv(x), by_definition(x, conv)) < 1e-13


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last], ids=str)
def test_any_strides(backend, memory_format):
    conv, x = layer((3,), backend=backend), function((3,))
    strided = x.flatten(0, 1).contiguous(memory_format=memory_format).unflatten(0, x.shape[:2])
    turned = x.transpose(-1, -2).contiguous().transpose(-1, -2)
    torch.testing.assert_close(conv(strided), conv(x))
    torch.testing.assert_close(conv(turned), conv(x))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("orders", [(3,), (2, 3)], ids=str)
def test_a_memory_format_is_for_planes(orders, backend):
    conv, x = layer(orders, backend=backend), function(orders)
    want = conv(x)
    conv.to(memory_format=torch.channels_last)
    assert conv.weight.is_contiguous()
    assert torch.equal(conv(x), want)


@pytest.mark.parametrize("backend", BACKENDS)
def test_batch_of_one_and_map_of_one(backend):
    conv = layer((4,), backend=backend, padding=1)
    assert conv(function((4,), plane=(1, 1), batch=1)).shape == (1, 4, 3, 1, 1)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("shape", "numbers"),
    [
        ((2, 4, 5, 5), ("4 axes", "5 expected")),
        ((1, 5, 2, 5, 5), ("5 group", "6 expected")),
        ((1, 6, 3, 5, 5), ("3 channels", "2 exp")),
    ],
    ids=str,
)
def test_wrong_input_says_both_numbers(shape, numbers, backend):
    conv = layer((2, 3), backend=backend, dtype=torch.float32)
    with pytest.raises(ValueError, match=".*".join(numbers)):
        conv(torch.zeros(shape))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("orders", [(1,), (4,)], ids=str)
@pytest.mark.parametrize("plane", [(2, 5), (5, 2), (1, 1)], ids=str)
def test_a_kernel_larger_than_the_map_is_named(plane, orders, backend):
    conv = layer(orders, backend=backend, channels=(64, 64))
    with pytest.raises((ValueError, RuntimeError), match=r"(?i)kernel.*\b3 ?x ?3") as error:
        conv(function(orders, channels=64, plane=plane))
    assert re.search(r"{} ?x ?{}".format(*plane), str(error.value))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "fft"}, "backend must be one of"),
        ({"padding": "full"}, "padding must be one of"),
        ({"padding": "same", "stride": 2}, "stride 1"),
        ({"padding_mode": "wrap"}, "padding_mode must be one of"),
        ({"kernel_size": 0}, "kernel_size must be"),
        ({"kernel_size": 3.0}, "kernel_size must be a whole number"),
        ({"stride": (1, 2, 3)}, "stride must be"),
        ({"padding": -1}, "padding must be"),
        ({"channels": (0, 1)}, "in_channels must be"),
    ],
    ids=str,
)
def test_wrong_arguments_say_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        layer((2,), **options)


def test_repr_reads_in_to_out():
    assert "2 -> 3" in repr(layer((2, 3)))
    assert "stride=(2, 2)" in repr(layer((2, 3), stride=2))


@pytest.mark.parametrize("backend", BACKENDS)
def test_bf16_autocast_stays_near_single_precision_and_equivariant(backend):
    conv, x = layer((3, 2), backend=backend, padding=1, dtype=torch.float32), function((3, 2), dtype=torch.float32)
    exact = conv(x).detach()
    with torch.autocast("cpu", torch.bfloat16):
        out = conv(x)
        turned = conv(conv.group.act(x, (1, 1)))
        out.float().sum().backward()
    assert out.dtype == torch.bfloat16
    assert conv.weight.grad.dtype == torch.float32
    assert relative(out.float(), exact) < 2e-2
    assert relative(turned.float(), conv.group.act(out, (1, 1)).float()) < 2e-2


@pytest.mark.parametrize(
    ("channels", "orders", "chosen"),
    [
        ((1, 1), (3,), "direct"),
        ((5, 5), (4,), "direct"),
        ((8, 8), (4,), "direct"),
        ((16, 16), (4,), "fourier"),
        ((3, 8), (4, 4, 4), "fourier"),
        ((4, 6), (1,), "fourier"),
    ],
)
def test_auto_follows_the_measured_crossovers(channels, orders, chosen):
    assert layer(orders, backend="auto", channels=channels).resolved_backend == chosen


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_compiled_layer_agrees():
    conv, x = layer((3,), dtype=torch.float32), function((3,), dtype=torch.float32)
    assert relative(torch.compile(conv, backend="aot_eager")(x), conv(x)) < 1e-5


def test_numpy_integers_are_whole_numbers():
    layer = GroupConv2d(np.int64(2), np.int32(3), np.int64(3), ColorGroup(3), padding=(np.int64(1), np.int64(0)))
    assert layer(torch.zeros(1, 3, 2, 5, 5)).shape == (1, 3, 3, 5, 3)


@pytest.mark.parametrize("backend", ["direct", "fourier"])
def test_complex_input_is_refused(backend):
    layer = GroupConv2d(2, 3, 3, ColorGroup(3), backend=backend)
    with pytest.raises(ValueError, match=r"the input holds torch\.complex64, real floating-point numbers expected"):
        layer(torch.zeros(1, 3, 2, 5, 5, dtype=torch.complex64))
