"""GroupBatchNormAct2d: norm, residual sum and activation as one module, whatever runs it."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from t3cen.groups import CyclicProduct
from t3cen.nn import GroupActivation, GroupBatchNorm2d, GroupBatchNormAct2d
from t3cen.nn.norm import ResidualActivation

MAPS, SHORTCUT = torch.randn(2, 3, 5, 4, 6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def made(activation=None, **options):
    norm = GroupBatchNormAct2d(4, activation=activation, **options).double()
    for parameter in (norm.weight, norm.bias):
        nn.init.uniform_(parameter, -1, 2, generator=torch.Generator().manual_seed(1))
    return norm


def one_after_the_other(norm, shortcut):
    """The same out of PyTorch's modules."""
    plain = nn.BatchNorm2d(norm.num_features).double()
    plain.load_state_dict({key: value for key, value in norm.state_dict().items() if not key.startswith("activation")})
    plain.train(norm.training)
    activation = nn.ReLU() if norm.activation is None else copy.deepcopy(norm.activation)

    def call(maps):
        out = plain(maps.flatten(0, 1)).view_as(maps)
        return activation(out if shortcut is None else out + shortcut)

    return call, plain


SHORTCUTS = pytest.mark.parametrize(
    "shortcut", [None, SHORTCUT, SHORTCUT[:1], SHORTCUT.float()], ids=["no", "", "broad", "single"]
)


@SHORTCUTS
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(
    "activation",
    [
        None,
        nn.ReLU(inplace=True),
        nn.GELU(),
        nn.PReLU(),
        nn.LeakyReLU(0.1, inplace=True),
        GroupActivation(nn.ReLU(), CyclicProduct(5)),
    ],
    ids=lambda module: type(module).__name__,
)
def test_is_norm_sum_and_activation_one_after_the_other(activation, train, shortcut):
    norm = made(copy.deepcopy(activation))
    for _ in range(2):
        norm.train(train)
        call, plain = one_after_the_other(norm, shortcut)
        inputs = [MAPS.clone().requires_grad_() for _ in range(2)]
        outputs = [norm(inputs[0], shortcut), call(inputs[1])]
        torch.testing.assert_close(*outputs)
        torch.testing.assert_close(
            *(torch.autograd.grad(out.square().sum(), f)[0] for out, f in zip(outputs, inputs, strict=True))
        )
        torch.testing.assert_close({k: v for k, v in norm.state_dict().items() if "activation" not in k}, plain.state_dict())
        assert torch.equal(MAPS, inputs[0])


def test_names_in_the_state_are_those_of_the_norm():
    assert made().state_dict().keys() == GroupBatchNorm2d(4).state_dict().keys()
    twin = GroupBatchNormAct2d(4)
    twin.load_state_dict(GroupBatchNorm2d(4).state_dict())


def test_a_shortcut_in_double_precision_keeps_it():
    norm = made().float()
    assert norm(MAPS.float(), SHORTCUT).dtype == torch.float64


def test_a_shortcut_learns():
    shortcut = SHORTCUT.clone().requires_grad_()
    out = made()(MAPS, shortcut)
    out.sum().backward()
    assert torch.equal(shortcut.grad, (out > 0).double())


@pytest.mark.parametrize(
    "register",
    ["register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_full_backward_pre_hook"],
)
def test_hooks_are_called(register):
    norm, called = made(), []
    getattr(norm, register)(lambda *args: called.append(register))
    norm(MAPS.clone().requires_grad_(), SHORTCUT).sum().backward()
    assert called == [register]


def test_hooks_on_all_modules_are_called():
    called = []
    handle = register_module_forward_hook(lambda module, *args: called.append(type(module)))
    try:
        nn.Sequential(made(), made())(MAPS)
    finally:
        handle.remove()
    assert called == [GroupBatchNormAct2d, GroupBatchNormAct2d, nn.Sequential]


def test_a_forward_that_was_replaced_is_called():
    """As libraries for mixed precision do it."""
    norm = made()
    forward = norm.forward
    norm.forward = lambda *args: 2 * forward(*args)
    assert torch.equal(nn.Sequential(norm)(MAPS), 2 * forward(MAPS))


def test_copies_and_pickles():
    norm = made().eval()
    for twin in (copy.deepcopy(norm), pickle.loads(pickle.dumps(norm))):
        assert torch.equal(twin(MAPS, SHORTCUT), norm(MAPS, SHORTCUT))


def test_wrong_input_says_both_numbers():
    with pytest.raises(ValueError, match=r"4 channels.*5 expected"):
        GroupBatchNormAct2d(5)(MAPS)
    with pytest.raises(ValueError, match=r"3 axes.*5 expected"):
        GroupBatchNormAct2d(4)(MAPS[0, 0, 0][None, None].sum(0))


def test_without_a_norm_it_is_its_activation():
    assert torch.equal(ResidualActivation()(MAPS.clone(), SHORTCUT), (MAPS + SHORTCUT).relu())
    assert torch.equal(ResidualActivation(nn.GELU())(MAPS), nn.functional.gelu(MAPS))
    f = MAPS.clone().requires_grad_()
    ResidualActivation()(f).sum().backward()  # a leaf is not changed in place
    assert torch.equal(f.grad, (MAPS > 0).double())


@pytest.mark.parametrize("shortcut", [None, SHORTCUT], ids=["alone", "with a shortcut"])
def test_what_is_kept_for_the_backward_pass(shortcut):
    """The maps, and the result only where a sum decides what ReLU lets through."""
    maps, kept = MAPS.clone().requires_grad_(), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        out = made()(maps, shortcut)
    large = [t for t in kept if t.shape == maps.shape]
    assert len(large) == (1 if shortcut is None else 2)
    assert any(torch.equal(t, maps) for t in large)
    assert shortcut is None or any(torch.equal(t, out) for t in large)
