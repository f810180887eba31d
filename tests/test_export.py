"""Exported networks give the logits of the network, at batch sizes they were not exported with, without norms."""

import pytest
import torch

from t3cen.export import export_onnx, export_program
from t3cen.models import build
from t3cen.nn import GroupConv2d

NETWORKS = [
    ("z2cnn", "h3s2", 20, 28),
    pytest.param("resnet18", "h4", 16, 16, marks=pytest.mark.slow),
    pytest.param("resnet18", "h4s4", 32, 16, marks=pytest.mark.slow),
    pytest.param("resnet50", "h4", 16, 16, marks=pytest.mark.slow),
]
pytestmark = pytest.mark.filterwarnings("ignore")
ARGUMENTS = ("name", "group", "width", "size")


def network(name, group, width, size):
    """In training mode, with running statistics that are not the initial ones."""
    torch.manual_seed(0)
    net = build(name, group, 4, width=width).train()
    with torch.no_grad():
        for batch in (4, 5, 6):
            net(images(batch, size))
    return net


def images(batch, size):
    return torch.rand(batch, 3, size, size, generator=torch.Generator().manual_seed(batch))


def assert_same(logits, net, rgb):
    with torch.no_grad():
        want = net.eval()(rgb)
    torch.testing.assert_close(logits / want.abs().max(), want / want.abs().max(), rtol=0, atol=1e-5)


@pytest.mark.parametrize(ARGUMENTS, [*NETWORKS, pytest.param("resnet50", "h4s4", 32, 16, marks=pytest.mark.slow)])
def test_program_matches_at_every_batch_size(name, group, width, size):
    net = network(name, group, width, size)
    program = export_program(net, (size, size))
    targets = {str(node.target) for graph in program.graph_module.modules() for node in graph.graph.nodes}
    assert any("conv" in target for target in targets)
    assert not any("batch_norm" in target for target in targets)
    for batch in (2, 5):
        assert_same(program.module()(images(batch, size)), net, images(batch, size))


@pytest.mark.parametrize(ARGUMENTS, NETWORKS)  # a ResNet50 takes most of a minute
def test_onnxruntime_matches_at_every_batch_size(name, group, width, size, tmp_path):
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    net = network(name, group, width, size)
    path = export_onnx(net, (size, size), tmp_path / "net.onnx")
    graph = onnx.load(path).graph
    kinds = [node.op_type for node in graph.node]
    convolutions = kinds.count("Conv")
    assert convolutions == sum(isinstance(layer, GroupConv2d) for layer in net.modules())
    assert "BatchNormalization" not in kinds
    # A transform on each side of a convolution of the Fourier backend; those of the filters are done.
    assert kinds.count("MatMul") <= 2 * convolutions
    session = onnxruntime.InferenceSession(str(path))
    for batch in (1, 2, 5):
        (logits,) = session.run(["logits"], {"image": images(batch, size).numpy()})
        assert_same(torch.from_numpy(logits), net, images(batch, size))
