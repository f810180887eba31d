"""Layers under `torch.func`, on every backend: batches, gradients, tangents."""

import pytest
import torch
from torch.func import functional_call, grad, jvp, vmap

from t3cen.groups import ColorGroup, CyclicProduct
from t3cen.nn import CEConv2d, GroupConv2d, LCERConv2d

pytestmark = [
    # PyTorch, where an operation of its own has no rule for batches (`Tensor.unfold` backwards)
    pytest.mark.filterwarnings("ignore:There is a performance drop because we have not yet implemented the batching rule"),
    # PyTorch, at its first tangent
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
]
LAYERS = {
    "group": (GroupConv2d, CyclicProduct(2, 3)),
    "lcer": (LCERConv2d, ColorGroup(2, 3)),
    "ceconv": (CEConv2d, ColorGroup(6)),
    "trivial": (GroupConv2d, CyclicProduct(1)),
}


def close(found, wanted):
    scale = max(float(wanted.detach().abs().max()), 1e-6)
    torch.testing.assert_close(found / scale, wanted / scale, rtol=0, atol=1e-5)


def check(module, batch):
    """Gradients of each sample are those of a loop; a tangent is the difference of close results."""
    parameters = {name: p.detach() for name, p in module.named_parameters()}
    buffers = dict(module.named_buffers())

    def loss(parameters, x):
        return functional_call(module, (parameters, buffers), (x[None],)).square().sum()

    together = vmap(grad(loss), (None, 0))(parameters, batch)
    for index, x in enumerate(batch):
        alone = grad(loss)(parameters, x)
        for name in parameters:
            close(together[name][index], alone[name])
    direction = {name: torch.randn_like(p) for name, p in parameters.items()}
    _, tangent = jvp(lambda p: loss(p, batch[0]), (parameters,), (direction,))
    gradient = grad(loss)(parameters, batch[0])
    close(tangent, sum((gradient[name] * direction[name]).sum() for name in parameters))


@pytest.mark.parametrize("backend", ["direct", "fourier"])
@pytest.mark.parametrize("kind", LAYERS)
def test_layers(kind, backend):
    torch.manual_seed(0)
    make, group = LAYERS[kind]
    layer = make(8, 8, 3, group, padding=1, backend=backend, bias=True)
    check(layer, torch.randn(3, group.order, 8, 12, 12))
    x = torch.randn(3, 2, group.order, 8, 12, 12)
    close(vmap(layer)(x), torch.stack([layer(part) for part in x]))
