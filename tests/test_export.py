"""Exported networks give the logits of the network, at batch sizes they were not exported with."""

import pytest
import torch

from t3cen.export import export_onnx, export_program
from t3cen.models import build


def network():
    torch.manual_seed(0)
    net = build("z2cnn", "h3s2", 4)
    net.train()
    net(images(4))
    return net.eval()


def images(batch):
    return torch.rand(batch, 3, 28, 28, generator=torch.Generator().manual_seed(batch))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_program_matches_at_every_batch_size():
    net = network()
    program = export_program(net, (28, 28)).module()
    for batch in (2, 5):
        torch.testing.assert_close(program(images(batch)), net(images(batch)), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_onnxruntime_matches_at_every_batch_size(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    net = network()
    session = onnxruntime.InferenceSession(str(export_onnx(net, (28, 28), tmp_path / "net.onnx")))
    for batch in (1, 2, 5):
        (logits,) = session.run(["logits"], {"image": images(batch).numpy()})
        torch.testing.assert_close(torch.from_numpy(logits), net(images(batch)).detach(), rtol=1e-5, atol=1e-5)
