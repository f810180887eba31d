"""Transposed convolutions on functions on the group: PyTorch's for the trivial group, equivariant for others."""

import pytest
import torch
from torch import nn

from t3cen import convert
from t3cen.conversion.layers import FoldedConvTranspose2d, mixing
from t3cen.groups import ColorGroup
from t3cen.testing import equivariance_error, network_error

# kernel, stride, padding, output_padding, groups
SHAPES = [
    ((2, 2), (2, 2), (0, 0), (0, 0), 1),
    ((4, 4), (2, 2), (1, 1), (0, 0), 2),
    ((3, 5), (2, 3), (1, 2), (1, 2), 3),
    ((1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((3, 3), (1, 1), (1, 1), (0, 0), 1),
]


@pytest.mark.parametrize(("kernel", "stride", "padding", "more", "groups"), SHAPES)
def test_filters_at_the_identity_are_the_plain_layer(kernel, stride, padding, more, groups):
    torch.manual_seed(0)
    old = nn.ConvTranspose2d(6, 6, kernel, stride, padding, more, groups).double()
    maps = torch.randn(8, 6, 7, 5, dtype=torch.float64)
    for group in (ColorGroup(), ColorGroup(4, 2)):
        made = mixing(old, old, group)
        torch.testing.assert_close(made(maps), old(maps))
        larger = [size + step - 1 for size, step in zip(old(maps).shape[2:], stride, strict=True)]
        larger = [size - extra for size, extra in zip(larger, more, strict=True)]
        torch.testing.assert_close(made(maps, output_size=larger), old(maps, output_size=larger))
    with pytest.raises(ValueError, match=r"output_size must lie in \[.*got \[1, 1\]"):
        made(maps, output_size=[1, 1])


@pytest.mark.parametrize(("kernel", "stride", "padding", "more", "groups"), SHAPES)
def test_every_element_is_seen_and_moves_along(kernel, stride, padding, more, groups):
    torch.manual_seed(0)
    group = ColorGroup(3, 2)
    layer = FoldedConvTranspose2d(6, 6, kernel, group, stride, padding, more, groups=groups).double()
    f = torch.randn(2, group.order, 6, 5, 4, dtype=torch.float64)

    def unfolded(f):
        return layer(f.flatten(0, 1)).unflatten(0, (2, -1))

    assert equivariance_error(unfolded, group, f).worst <= 1e-14
    one = torch.zeros_like(f)
    one[:, 1] = f[:, 1]
    assert all((unfolded(one)[:, g] - layer.bias[:, None, None]).abs().max() > 1e-3 for g in range(group.order))


def test_new_filters_keep_the_size_of_features():
    torch.manual_seed(0)
    group = ColorGroup(4)
    layer = FoldedConvTranspose2d(64, 64, (4, 4), group, (2, 2), (1, 1), (0, 0), bias=False)
    plain = nn.Conv2d(256, 64, 2, bias=False)  # as many inputs to each output
    scale = layer(torch.randn(4, 64, 16, 16)).std() / plain(torch.randn(1, 256, 16, 16)).std()
    assert 0.9 < scale < 1.1


@pytest.mark.parametrize(("dilation", "mixing"), [(1, ("0", "2")), (2, ("0",))])
def test_in_a_network(dilation, mixing):
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.ConvTranspose2d(8, 8, 2, 2, dilation=dilation), nn.ReLU(),
        nn.Conv2d(8, 2, 1),
    )  # fmt: skip
    network = convert(model, "h4", match="width").eval()
    assert network.conversion.mixing == mixing
    images = torch.rand(2, 3, 12, 12)
    assert network_error(network, images).worst <= 5e-6
    lifted = network.lifting(images)
    torch.testing.assert_close(network.on_lifted(lifted)[:, 2], model(lifted[:, 2]), rtol=1e-5, atol=1e-5)
