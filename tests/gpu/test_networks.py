"""Whole networks on a device: symmetry, the two backends, a step compiled and captured, memory, and that nothing waits."""

import copy

import pytest
import torch
from torch.nn import functional as F

from t3cen.models import build
from t3cen.testing import interpolated, network_error

KINDS = {
    "plain": {"family": "plain"},
    "gray": {"family": "gray"},
    "t3cen": {"group": "h4s4"},
    "t3cen_rgb": {"family": "t3cen_rgb", "group": "h4s4"},
    "t3cen_scale": {"family": "t3cen_scale", "group": "h4"},
    "lcer": {"family": "lcer", "group": "h4s3"},
    "ceconv": {"family": "ceconv", "group": "h4"},
    "continuous": {"group": "h5", "band_limit": True},
}
kinds = pytest.mark.parametrize("made", KINDS.values(), ids=KINDS)


def network(device, name="z2cnn", **made):
    torch.manual_seed(0)
    return build(name, num_classes=4, **{"width": 32, **made}).to(device)


def images(device, count=2, size=28):
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(1)).to(device)


def step(made, rgb):
    made.zero_grad()
    F.cross_entropy(made(rgb), torch.zeros(len(rgb), dtype=torch.long, device=rgb.device)).backward()


@kinds
def test_logits_and_gradients_are_those_of_float64(device, made):
    net = network("cpu", **made)
    exact = copy.deepcopy(net).double()
    step(exact, images("cpu").double())
    step(net.to(device), images(device))
    torch.testing.assert_close(net(images(device)).double().cpu(), exact(images("cpu").double()), rtol=1e-3, atol=1e-4)
    for mine, reference in zip(net.parameters(), exact.parameters(), strict=True):
        scale = float(reference.grad.abs().max())
        assert float((mine.grad.double().cpu() - reference.grad).abs().max()) < 1e-2 * scale + 1e-5


def test_equivariance_in_the_group_and_between_its_steps(device):
    assert network_error(network(device, group="h4s4").eval(), images(device)).worst < 1e-5
    net = network(device, group="h5", band_limit=True).eval()
    between = network_error(net, images(device), elements=[(0.3, 0, 0)], act_output=interpolated(net.lifting.group))
    assert between.worst < 5e-2


def test_fourier_is_direct(device):
    fourier, direct = (network(device, group="h4s4", backend=backend).eval() for backend in ("fourier", "direct"))
    torch.testing.assert_close(fourier(images(device)), direct(images(device)), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_compiled(device):
    net = network(device, group="h4")
    twin = copy.deepcopy(net)
    step(net, images(device))
    step(torch.compile(twin, backend="inductor" if device.type == "cuda" else "aot_eager"), images(device))
    for mine, other in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-3, atol=1e-5)


def test_nothing_is_left_after_steps(device):
    net = network(device, group="h4s4")
    held = []
    for _ in range(4):
        step(net, images(device))
        held.append(torch.cuda.memory_allocated() if device.type == "cuda" else 0)
    assert held[1] == held[3]
    assert torch.isfinite(net(images(device))).all()


@pytest.mark.gpu
def test_a_step_waits_for_nothing():
    device = torch.device("cuda")
    net, rgb = network(device, group="h4s4"), images(device)
    labels = torch.zeros(len(rgb), dtype=torch.long, device=device)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def once():
        optimizer.zero_grad()
        F.cross_entropy(net(rgb), labels).backward()
        optimizer.step()

    once()  # the fixed matrices are copied there
    torch.cuda.set_sync_debug_mode("error")
    try:
        once()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.gpu
def test_a_captured_step_is_the_step():
    device = torch.device("cuda")
    net, rgb = network(device, group="h4s4").eval(), images(device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(net, rgb)
    torch.cuda.current_stream().wait_stream(side)
    expected = [p.grad.clone() for p in net.parameters()]
    graph = torch.cuda.CUDAGraph()
    net.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        F.cross_entropy(net(rgb), torch.zeros(len(rgb), dtype=torch.long, device=device)).backward()
    graph.replay()
    for mine, other in zip(net.parameters(), expected, strict=True):
        torch.testing.assert_close(mine.grad, other, rtol=1e-4, atol=1e-6)


@pytest.mark.gpu
def test_an_image_out_of_range_is_refused_within_a_few_calls():
    net = network("cuda", group="h4").eval()
    with pytest.raises(ValueError, match=r"RGB values must lie in \[0, 1\]"), torch.no_grad():  # noqa: PT012
        net(images("cuda") + 1)
        for _ in range(3):
            torch.cuda.synchronize()
            net(images("cuda"))
