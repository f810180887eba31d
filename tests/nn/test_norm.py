"""GroupBatchNorm2d: one statistic per channel, in training and in evaluation."""

import pytest
import torch
from torch import nn

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupBatchNorm2d, GroupBatchNormAct2d


def function(batch=3, group=4, channels=5):
    return torch.randn(batch, group, channels, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def trained(channels=5, **options):
    norm = GroupBatchNorm2d(channels, **options).double()
    with torch.no_grad():
        for p in norm.parameters():
            p.copy_(torch.linspace(0.5, 1.5, channels))
    for scale in (1, 3):
        norm(scale * function() + torch.arange(4.0).view(4, 1, 1, 1))
    return norm


def test_statistics_are_one_per_channel():
    norm = trained()
    assert norm.running_mean.shape == norm.running_var.shape == (5,)
    assert {name: tuple(p.shape) for name, p in norm.named_parameters()} == {"weight": (5,), "bias": (5,)}


@pytest.mark.parametrize("train", [True, False])
def test_commutes_with_the_group(train):
    norm, group, x = trained().train(train), CyclicProduct(2, 2), function() + torch.arange(4.0).view(4, 1, 1, 1)
    for element in group.elements():
        torch.testing.assert_close(norm(group.act(x, element)), group.act(norm(x), element), rtol=1e-12, atol=1e-12)


def test_a_statistic_per_element_would_fail_in_evaluation():
    group, x = CyclicProduct(4), function() + torch.arange(4.0).view(4, 1, 1, 1)
    norm = nn.BatchNorm2d(4 * 5).double()
    norm(x.flatten(1, 2))
    norm.eval()
    wrong = lambda f: norm(f.flatten(1, 2)).view_as(f)  # noqa: E731
    assert (wrong(group.act(x, (1,))) - group.act(wrong(x), (1,))).abs().max() > 0.1


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("options", [{}, {"affine": False}, {"momentum": None}, {"track_running_stats": False}], ids=str)
def test_equals_batch_norm_of_the_folded_tensor(options, train):
    norm, plain, x = GroupBatchNorm2d(5, **options).double(), nn.BatchNorm2d(5, **options).double(), function()
    for module in (norm, plain):
        module.train()(2 * x.flatten(0, 1))
        module.train(train)
    torch.testing.assert_close(norm(x), plain(x.flatten(0, 1)).view_as(x))
    torch.testing.assert_close(norm(x.flatten(0, 1)), plain(x.flatten(0, 1)))
    torch.testing.assert_close(norm.state_dict(), plain.state_dict())


def test_wrong_input_says_both_numbers():
    with pytest.raises(ValueError, match=r"4 channels.*5 expected"):
        GroupBatchNorm2d(5)(torch.zeros(1, 2, 4, 3, 3))
    with pytest.raises(ValueError, match=r"3 axes.*5 expected"):
        GroupBatchNorm2d(5)(torch.zeros(1, 5, 3))


def test_an_activation_in_place_costs_no_copies():
    out = GroupBatchNorm2d(3)(torch.randn(2, 4, 3, 5, 5, requires_grad=True))
    assert not out._is_view()
    assert torch.relu_(out).grad_fn.name() == "ReluBackward0"


@pytest.mark.parametrize("layer", [GroupBatchNorm2d, GroupBatchNormAct2d])
@pytest.mark.parametrize(
    "options", [{}, {"affine": False}, {"momentum": None}, {"track_running_stats": False}, {"eps": 0.5}], ids=str
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_running_statistics_are_those_of_batch_norm(layer, options, dtype):
    norm, plain = layer(5, **options).to(dtype), nn.BatchNorm2d(5, **options).to(dtype)
    for seed in range(3):
        x = (2 + seed) * function().to(dtype) + seed
        norm(x), plain(x.flatten(0, 1))
    torch.testing.assert_close(norm.state_dict(), plain.state_dict(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layer", [GroupBatchNorm2d, GroupBatchNormAct2d])
@pytest.mark.parametrize("train", [True, False])
def test_compilers_take_it_whole(layer, train):
    norms = [layer(5).double().train(train) for _ in range(2)]
    compiled = torch.compile(norms[1], backend="aot_eager", fullgraph=True)
    found = []
    for call in (norms[0], compiled):
        x = function().requires_grad_()
        out = call(x)
        out.square().sum().backward()
        found.append((out.detach(), x.grad))
    torch.testing.assert_close(*found)
    torch.testing.assert_close(norms[0].state_dict(), norms[1].state_dict())


@pytest.mark.parametrize("layer", [GroupBatchNorm2d, GroupBatchNormAct2d])
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated")  # of functorch itself
def test_torch_func(layer, train):
    """In training each sample has statistics of its own, and there are no running ones, as PyTorch asks."""
    norm = layer(5, track_running_stats=not train).double().train(train)
    parameters = dict(norm.named_parameters())

    def loss(parameters, x):
        return torch.func.functional_call(norm, parameters, (x[None],)).square().sum()

    x = function() * torch.tensor([1.0, -2, 3]).view(3, 1, 1, 1, 1)
    got = torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, x)
    each = [torch.func.grad(loss)(parameters, one) for one in x]
    torch.testing.assert_close(got, {name: torch.stack([g[name] for g in each]) for name in parameters})
    _, tangent = torch.func.jvp(norm, (x,), (x,))
    torch.testing.assert_close(tangent, (norm(x * (1 + 1e-6)) - norm(x * (1 - 1e-6))) / 2e-6, rtol=1e-5, atol=1e-5)


def test_meta_tensors_pass():
    norm = GroupBatchNormAct2d(5).to("meta")
    assert norm(torch.empty(2, 3, 5, 4, 4, device="meta"), torch.empty(2, 3, 5, 4, 4, device="meta")).shape == (2, 3, 5, 4, 4)
