"""Every operator is one that PyTorch can differentiate, batch, trace and count."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.library import opcheck
from torch.utils.flop_counter import FlopCounterMode

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupConv2d
from t3cen.ops.fixed import fixed_conv2d
from t3cen.ops.fourier import fourier_conv2d, fourier_conv2d_backward
from t3cen.ops.operator import DECOMPOSITIONS
from t3cen.ops.transform import group_transform, rank
from t3cen.ops.unit_range import unit_range

pytestmark = [
    # PyTorch, at its first tangent
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
]
FUNCTIONS = {
    function.__name__: function
    for function in (
        group_transform,
        fourier_conv2d,
        fourier_conv2d_backward,
        fixed_conv2d,
        unit_range,
    )
}
ORDERS, PLANE = [3], [1, 1, 1, 1, 1, 1]


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(len(shape))).requires_grad_()


FILTERS = numbers(rank(ORDERS) * 2, 2, 3, 3)
SAMPLES = {
    "group_transform": [(numbers(2, 3, 5), ORDERS, "signal", False, first) for first in (False, True)],
    "fourier_conv2d": [(numbers(1, 3, 2, 3, 3), FILTERS, bias, ORDERS, PLANE) for bias in (None, numbers(2))],
    "fourier_conv2d_backward": [
        (numbers(1, 3, 2, 3, 3), numbers(1, 3, 2, 3, 3).requires_grad_(needed[1]), FILTERS, ORDERS, PLANE, needed)
        for needed in ([True, True], [False, True], [True, False])  # that of the filters alone depends on the input
    ],
}
SAMPLES |= {
    "fixed_conv2d": SAMPLES["fourier_conv2d"][1:],
    "unit_range": [(numbers(2, 3, 4, 4).detach().sigmoid().requires_grad_(),)],
}
EVERY = [(name, arguments) for name, samples in SAMPLES.items() for arguments in samples]


def test_there_are_samples_of_every_operator():
    in_their_own_tests = {f"{name}{way}" for name in ("batch_norm_act", "band_limited_relu") for way in ("", "_backward")}
    assert {op.name().partition("::")[2] for op in DECOMPOSITIONS} == set(SAMPLES) | in_their_own_tests


@pytest.mark.parametrize(("name", "arguments"), EVERY, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # opcheck itself reads it
def test_pytorch_accepts_it(name, arguments):
    op = getattr(torch.ops.t3cen, name).default
    opcheck(op, arguments)
    opcheck(op, tuple(a.detach().float() if isinstance(a, torch.Tensor) else a for a in arguments))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), EVERY, ids=lambda value: value if isinstance(value, str) else "")
def test_every_derivative(name, arguments):
    function = FUNCTIONS[name]
    checks = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True, "fast_mode": False}
    assert gradcheck(function, arguments, **checks)
    assert gradgradcheck(function, arguments, check_fwd_over_rev=True)


def layer(**options):
    torch.manual_seed(0)
    return GroupConv2d(16, 16, 3, CyclicProduct(4), padding=1, backend="fourier", **options)


def test_counters_and_profilers_see_what_runs():
    conv, x = layer(bias=False), torch.randn(2, 4, 16, 8, 8)
    with FlopCounterMode(display=False) as counter:
        conv(x).sum().backward()
    products, transforms, filters = 5 * 16 * 16 * 9 * 64 * 2, 2 * 5 * 4 * 16 * 64 * 2, 5 * 4 * 16 * 16 * 9
    assert counter.get_total_flops() == 2 * (2 * (products + transforms) + 2 * filters)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        conv(x).sum().backward()
    names = {event.name for event in profile.events()}
    assert {"t3cen::group_transform", "t3cen::fourier_conv2d", "t3cen::fourier_conv2d_backward"} <= names


def test_nothing_changes_because_somebody_watches():
    conv, x = layer(), torch.randn(2, 4, 16, 8, 8)
    alone = conv(x)
    with FlopCounterMode(display=False):
        assert torch.equal(conv(x), alone)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        assert torch.equal(conv(x), alone)


def test_an_autocast_rounds_products_alone():
    conv, x = layer(), torch.randn(2, 4, 16, 8, 8)
    with torch.autocast("cpu", torch.bfloat16):
        out = conv(x)
        op = group_transform(x.flatten(2), [4], "signal", False, False)
    assert out.dtype == torch.bfloat16
    assert op.dtype == torch.float32
    assert torch.equal(op, group_transform(x.flatten(2), [4], "signal", False, False))
    torch.testing.assert_close(out.float(), conv(x), rtol=0, atol=2e-2 * float(conv(x).detach().abs().max()))


def test_one_node_of_a_compiled_graph_and_none_of_a_decomposed_one():
    conv, x = layer(), torch.randn(2, 4, 16, 8, 8)
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), conv(x))
    program = torch.export.export(conv, (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    mine = [str(node.target) for node in program.graph.nodes if "t3cen" in str(node.target)]
    assert mine == ["t3cen.group_transform.default", "t3cen.fourier_conv2d.default"]
    plain = program.run_decompositions(DECOMPOSITIONS)
    assert not any("t3cen" in str(node.target) for node in plain.graph.nodes)
    other = torch.randn(5, 4, 16, 8, 8)
    torch.testing.assert_close(plain.module()(other), conv(other))
