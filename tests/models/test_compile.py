"""Whole networks under torch.compile, in training: traced and differentiated by it, run without its machine code."""

import copy

import pytest
import torch

from t3cen.models import build


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # the compiler's own, where it stops and goes on
@pytest.mark.fast("z2cnn-True")
@pytest.mark.parametrize(("name", "recompute"), [("resnet18", False), ("z2cnn", False), ("z2cnn", True)])
def test_a_compiled_network_trains_alike_and_is_one_graph_where_nothing_is_recomputed(name, recompute):
    torch.manual_seed(0)
    network = build(name, "h4", 4, width=16, recompute=recompute).double()
    twin = copy.deepcopy(network)
    rgb = torch.rand(3, 3, 28, 28, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    results = []
    for made, forward in ((network, network), (twin, torch.compile(twin, backend="aot_eager", fullgraph=not recompute))):
        loss = forward(rgb).square().mean()
        loss.backward()
        results.append((loss.detach(), [p.grad for p in made.parameters()], list(made.buffers())))
    torch.testing.assert_close(results[1], results[0], rtol=1e-8, atol=1e-10)
