"""Layers and liftings on a device: the CPU's numbers in float64, and the group's symmetry."""

import copy

import pytest
import torch

from t3cen.groups import ColorGroup, RGBGroup, ScaleGroup
from t3cen.nn import GroupBatchNormAct2d, GroupConv2d, HSLLifting, LCERLifting, RGBLifting, ScaleLifting
from t3cen.testing import equivariance_error

LIFTINGS = [
    HSLLifting(ColorGroup(4, 4, 4)),
    RGBLifting(RGBGroup(2, 3, 4)),
    ScaleLifting(ScaleGroup(4)),
    LCERLifting(ColorGroup(4, 3, 1)),
]
GEOMETRY = [(3, 1, 1), (3, 2, 1), (1, 1, 0), (1, 2, 0), (5, 1, 2)]


def close(mine, exact, tolerance):
    assert float((mine.detach().double().cpu() - exact.detach()).abs().max()) < tolerance * float(exact.detach().abs().max())


def gradients(layer, x):
    out = layer(x)
    return [out, *torch.autograd.grad(out.square().sum(), [x, *layer.parameters()])]


@pytest.mark.parametrize("lifting", LIFTINGS, ids=repr)
def test_liftings(device, lifting):
    rgb = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    close(copy.deepcopy(lifting).to(device)(rgb.to(device)), lifting(rgb.double()), 1e-5)


@pytest.mark.parametrize("backend", ["direct", "fourier"])
@pytest.mark.parametrize("orders", [(4,), (4, 4), (3, 2, 2)], ids=str)
@pytest.mark.parametrize(("kernel", "stride", "padding"), GEOMETRY)
def test_convolutions_and_their_gradients(device, backend, orders, kernel, stride, padding):
    torch.manual_seed(0)
    group = ColorGroup(*orders, *[1] * (3 - len(orders)))
    layer = GroupConv2d(3, 8, kernel, group, stride, padding, backend=backend)
    x = torch.randn(2, group.order, 3, 9, 9, requires_grad=True)
    exact = gradients(copy.deepcopy(layer).double(), x.detach().double().requires_grad_())
    for mine, reference in zip(gradients(layer.to(device), x.detach().to(device).requires_grad_()), exact, strict=True):
        close(mine, reference, 2e-5)


@pytest.mark.parametrize(("precision", "bound"), [(torch.bfloat16, 3e-2), (torch.float16, 5e-3)])
def test_autocast(device, precision, bound):
    torch.manual_seed(0)
    layer, x = GroupConv2d(8, 8, 3, ColorGroup(4, 4, 1), padding=1, backend="fourier").to(device), torch.randn(2, 16, 8, 8, 8)
    exact = copy.deepcopy(layer).double().cpu()(x.double())
    with torch.autocast(device.type, precision):
        rounded = layer(x.to(device))
        error = equivariance_error(layer, layer.group, x.to(device)).worst
    assert rounded.dtype == precision
    close(rounded, exact, bound)
    assert error < bound


@pytest.mark.parametrize("allowed", [True, False])
def test_tf32_rounds_products_and_keeps_the_symmetry(device, allowed):
    torch.backends.cudnn.allow_tf32 = allowed
    torch.manual_seed(0)
    layer, x = GroupConv2d(8, 8, 3, ColorGroup(4, 4, 1), padding=1, backend="fourier").to(device), torch.randn(2, 16, 8, 8, 8)
    close(layer(x.to(device)), copy.deepcopy(layer).double().cpu()(x.double()), 3e-3 if allowed else 1e-5)
    assert equivariance_error(layer, layer.group, x.to(device)).worst < (3e-3 if allowed else 1e-5)


def test_norms_and_channels_last(device):
    torch.manual_seed(0)
    x = torch.randn(3, 4, 8, 6, 6)
    norm = GroupBatchNormAct2d(8).train()
    exact = copy.deepcopy(norm).double()(x.double())
    close(norm.to(device)(x.to(device)), exact, 1e-5)
    strided = x.to(device).permute(0, 1, 3, 4, 2).contiguous().permute(0, 1, 4, 2, 3)
    layer = GroupConv2d(8, 8, 3, ColorGroup(4, 1, 1), padding=1, backend="fourier").to(device)
    torch.testing.assert_close(layer(strided), layer(x.to(device)), rtol=1e-4, atol=1e-5)
