"""A norm and its ReLU at once: only where both are what they seem, and nobody listens."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from t3cen.nn import GroupBatchNorm2d
from t3cen.nn.norm import normalized
from t3cen.nn.sequential import Sequential

pytestmark = pytest.mark.usefixtures("compiled")
MAPS, SHORTCUT = torch.randn(2, 2, 3, 4, 6, 6, generator=torch.Generator().manual_seed(0))


def made():
    norm = GroupBatchNorm2d(4)
    for parameter in norm.parameters():
        nn.init.uniform_(parameter, -1, 2, generator=torch.Generator().manual_seed(1))
    return norm


def test_a_wrong_shape_is_the_same_error_with_relu():
    with pytest.raises(ValueError, match=r"4 channels.*5 expected"):
        normalized(GroupBatchNorm2d(5), nn.ReLU(), MAPS)
    for shape in [(5, 6, 6), (1, 2, 2, 5, 6, 6)]:
        with pytest.raises(ValueError, match=r"axes.*5 expected"):
            normalized(GroupBatchNorm2d(5), nn.ReLU(), torch.zeros(shape))


class Doubled(nn.ReLU):
    """Inherits, and does something else."""

    def forward(self, input):
        return 2 * super().forward(input)


class Shifted(GroupBatchNorm2d):
    """Inherits, and does something else."""

    def forward(self, input):
        return super().forward(input) + 1


@pytest.mark.parametrize("shortcut", [None, SHORTCUT], ids=["alone", "with a shortcut"])
@pytest.mark.parametrize(
    ("norm", "relu"),
    [(made(), nn.GELU()), (made(), Doubled()), (Shifted(4), nn.ReLU()), (nn.Identity(), nn.ReLU()), (made(), nn.LeakyReLU())],
    ids=str,
)
def test_other_modules_are_called(norm, relu, shortcut):
    norm, twin = copy.deepcopy(norm), copy.deepcopy(norm)
    want = relu(twin(MAPS) if shortcut is None else twin(MAPS) + shortcut)
    assert torch.equal(normalized(norm, relu, MAPS, shortcut), want)


@pytest.mark.parametrize("which", ["norm", "relu"])
@pytest.mark.parametrize(
    "register",
    ["register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_full_backward_pre_hook"],
)
def test_hooks_are_called(register, which):
    modules, called = {"norm": made(), "relu": nn.ReLU()}, []
    getattr(modules[which], register)(lambda *args: called.append(which))
    normalized(*modules.values(), MAPS.clone().requires_grad_()).sum().backward()
    assert called == [which]


def test_hooks_on_all_modules_are_called():
    called = []
    handle = register_module_forward_hook(lambda module, *args: called.append(type(module)))
    try:
        normalized(made(), nn.ReLU(), MAPS)
    finally:
        handle.remove()
    assert called == [GroupBatchNorm2d, nn.ReLU]


def test_in_sequence_a_norm_and_its_relu_are_one(monkeypatch):
    calls, normalize = [], compiled_norm.normalize
    monkeypatch.setattr(compiled_norm, "normalize", lambda norm, *args: calls.append(args[1:]) or normalize(norm, *args))
    parts = made(), nn.ReLU(inplace=True), made(), nn.GELU(), nn.ReLU(), made(), made(), nn.ReLU(), made()
    got = Sequential(*copy.deepcopy(parts))(MAPS)
    torch.testing.assert_close(got, nn.Sequential(*parts).double()(MAPS.double()).float(), rtol=1e-5, atol=1e-5)
    assert calls == [(True, None), (), (), (True, None), ()]
