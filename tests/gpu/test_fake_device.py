"""A training step on a GPU that is not there: no tensor on the wrong device, and nothing that would wait for the device.

`FakeTensorMode` knows shapes and devices and no numbers. An operation on tensors of two devices is an error there, and so is
one that asks for a number (`.item()`, `.tolist()`, `if tensor:`).
"""

from contextlib import contextmanager

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call
from torch.fx import Interpreter
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F
from torch.optim import Adam

from t3cen.groups import ColorGroup
from t3cen.loss import cross_entropy, jensen_shannon
from t3cen.models import build, names
from t3cen.models.families import FAMILIES
from t3cen.nn import GroupConv2d
from t3cen.task import Classification

GROUPS = {"t3cen": "h4s4", "t3cen_rgb": "h4s4", "t3cen_scale": "h4", "lcer": "h4s3", "ceconv": "h4"}
NETWORKS = {family: {"family": family, "group": GROUPS.get(family, "")} for family in FAMILIES} | {
    "direct": {"group": "h4", "backend": "direct"},
    "h4s4l4": {"group": "h4s4l4"},
    "continuous": {"group": "h5", "band_limit": True},
    "continuous rgb": {"family": "t3cen_rgb", "group": "h5s3", "band_limit": True},
    "continuous scale": {"family": "t3cen_scale", "group": "h5", "band_limit": True},
    "separable": {"family": "ceconv", "group": "h4", "separable": True},
    "recompute": {"group": "h4", "recompute": True},
}
every = pytest.mark.parametrize("made", NETWORKS.values(), ids=NETWORKS)
SIZE = 16


def network(made, name="resnet18"):
    return build(name, num_classes=4, **{"width": 32, **made})


@contextmanager
def fake_gpu(module):
    """Its parameters and buffers by name, on the GPU that is not there."""
    named = {name: value.detach() for name, value in [*module.named_parameters(), *module.named_buffers()]}
    with FakeTensorMode() as mode:
        yield {name: torch.empty_like(mode.from_tensor(value), device="cuda") for name, value in named.items()}


class Elsewhere(nn.Module):
    """A network with other parameters."""

    def __init__(self, network):
        super().__init__()
        self.call = lambda rgb: functional_call(network, self.state, (rgb,))
        self.state = {}

    def forward(self, rgb):
        return self.call(rgb)


def on_gpu(tensor):
    return tensor.device.type == "cuda"


@every
@pytest.mark.fast("True-t3cen", "True-recompute", "False-continuous")
@pytest.mark.parametrize("training", [True, False])
def test_forward(made, training):
    net = network(made).train(training)
    with fake_gpu(net) as state, torch.set_grad_enabled(training):
        logits = functional_call(net, state, (torch.rand(2, 3, SIZE, SIZE, device="cuda"),))
        assert on_gpu(logits)
        assert logits.shape == (2, 4)


@pytest.mark.fast("z2cnn")
@pytest.mark.parametrize("name", names())
def test_every_architecture(name):
    net = network({"group": "h4", "width": None}, name)
    with fake_gpu(net) as state:
        assert on_gpu(functional_call(net, state, (torch.rand(2, 3, 28, 28, device="cuda"),)))


@pytest.mark.fast("precision0")
@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
def test_mixed_precision(precision, monkeypatch):
    monkeypatch.setattr("torch.cuda.amp.common.amp_definitely_not_available", lambda: False)
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda: True)
    net = network(NETWORKS["t3cen"])
    with fake_gpu(net) as state, torch.autocast("cuda", precision):
        logits = functional_call(net, state, (torch.rand(2, 3, SIZE, SIZE, device="cuda"),))
        assert logits.dtype == precision


class OnGpu(Interpreter):
    """Runs a graph that was traced on the CPU, as if it had been traced on a GPU."""

    def run_node(self, node):
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": torch.device("cuda")}
        return super().run_node(node)


@pytest.mark.fast("lcer")
@pytest.mark.parametrize("kind", [kind for kind in NETWORKS if kind != "recompute"])  # checkpoints cannot be traced so
def test_forward_and_backward(kind):
    # Autograd's engine asks a GPU that is not there for its context, so the step is traced on the CPU and the graph is moved.
    net, size = (network(NETWORKS[kind]), SIZE) if kind == "t3cen" else (network(NETWORKS[kind], "z2cnn"), 28)
    names, values = zip(*[*net.named_parameters(), *net.named_buffers()], strict=True)
    count = len(list(net.parameters()))

    def step(values, images, labels):
        parameters = [value.detach().requires_grad_() for value in values[:count]]
        state = dict(zip(names, [*parameters, *(v.clone() for v in values[count:])], strict=True))
        loss = F.cross_entropy(functional_call(net, state, (images,)), labels)
        return [loss, *torch.autograd.grad(loss, parameters)]

    inputs = list(values), torch.rand(2, 3, size, size), torch.zeros(2, dtype=torch.long)
    graph = make_fx(step, tracing_mode="fake")(*inputs)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        move = lambda tensor: torch.empty_like(mode.from_tensor(tensor.detach()), device="cuda")  # noqa: E731
        for name, value in list(graph.named_buffers()):  # constants
            setattr(graph, name, move(value))
        flat = torch.utils._pytree.tree_leaves(inputs)
        loss, *gradients = OnGpu(graph).run(*map(move, flat))
        assert on_gpu(loss)
        assert [g.shape for g in gradients] == [p.shape for p in net.parameters()]
        assert all(map(on_gpu, gradients))


@pytest.mark.fast("jensen_shannon")
@pytest.mark.parametrize("loss", [cross_entropy, jensen_shannon])
def test_a_training_step_of_the_task_and_its_validation(loss, monkeypatch):
    net = network(NETWORKS["t3cen"])
    task, seen = Classification(Elsewhere(net), Adam, None, loss, validation_names=["A"]), []
    with fake_gpu(net) as task.network.state:
        task.log = lambda *_, **__: None
        monkeypatch.setattr(task._losses, "put", lambda numbers, step: seen.append(numbers))
        images, labels = torch.rand(2, 3, SIZE, SIZE, device="cuda"), torch.zeros(2, dtype=torch.long, device="cuda")
        task.training_step((images if loss is cross_entropy else (images,) * 3, labels), 0)
        assert [(on_gpu(numbers), numbers.shape) for numbers in seen] == [(True, (1,))]
        tally = task.tallies["validation"][0]
        for name in ("correct", "total", "loss"):
            setattr(tally, name, torch.empty((), dtype=getattr(tally, name).dtype, device="cuda"))
        task.validation_step((images, labels), 0)
        assert all(on_gpu(getattr(tally, name)) for name in ("correct", "total", "loss"))


def test_what_the_fake_device_is_for():
    conv = GroupConv2d(2, 2, 3, ColorGroup.parse("h4"), backend="fourier")
    with fake_gpu(conv) as state:
        x = torch.rand(1, 4, 2, 5, 5, device="cuda")
        with pytest.raises(ValueError, match="fourier_conv2d: tensors on cpu and cuda:0"):
            functional_call(conv, state | {"bias": torch.zeros(2)}, (x,))
        with pytest.raises(Exception, match="_local_scalar_dense"):
            float(functional_call(conv, state, (x,)).sum())
