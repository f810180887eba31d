"""DeepAugment's two kinds of noise: operations on the weights of a network, and on its activations.

Each operation takes a random choice of filters or channels and zeroes, negates, scales, transposes, flips, blurs, or
exchanges them, or (activations) sends them through another nonlinearity.

Source: Hendrycks et al., "The many faces of robustness", 2021 (arXiv 2006.16241): "zeroing, negating, convolving,
transposing, applying activation functions, ...".
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from t3cen.augment.autoencoder import Disturbance, ImageToImage

Operation = Callable[[Tensor, torch.Generator], Tensor]
"""On some filters `(N, C, kh, kw)` or some channels `(N, H, W)`: the same number of them, changed."""


def _zero(x: Tensor, generator: torch.Generator) -> Tensor:
    return torch.zeros_like(x)


def _negate(x: Tensor, generator: torch.Generator) -> Tensor:
    return -x


def _scale(x: Tensor, generator: torch.Generator) -> Tensor:
    """A gain in [0, 2] each."""
    gains = 2 * torch.rand(len(x), generator=generator)
    return x * gains.view(-1, *[1] * (x.ndim - 1))


def _exchange(x: Tensor, generator: torch.Generator) -> Tensor:
    return x[torch.randperm(len(x), generator=generator)]


def _flip(x: Tensor, generator: torch.Generator) -> Tensor:
    return x.flip(-1 - int(torch.randint(2, (), generator=generator)))


def _transpose(x: Tensor, generator: torch.Generator) -> Tensor:
    return x.mT


def _convolve(x: Tensor, generator: torch.Generator) -> Tensor:
    """With one random 3x3 kernel of unit sum of magnitudes."""
    kernel = torch.randn(1, 1, 3, 3, generator=generator)
    planes = x.reshape(-1, 1, *x.shape[-2:])
    return F.conv2d(planes, kernel / kernel.abs().sum(), padding=1).view_as(x)


def _drop(x: Tensor, generator: torch.Generator) -> Tensor:
    """Blocks of the plane set to zero, each of the 4x4 with probability 1/4."""
    kept = (torch.rand(1, 1, 4, 4, generator=generator) > 0.25).float()
    return x * F.interpolate(kept, x.shape[-2:])[0]


def _other_activation(x: Tensor, generator: torch.Generator) -> Tensor:
    functions = (F.gelu, torch.tanh, torch.sigmoid, F.softplus, torch.sin, torch.abs)
    return functions[int(torch.randint(len(functions), (), generator=generator))](x)


WEIGHT_NOISE: tuple[Operation, ...] = (_zero, _negate, _scale, _exchange, _flip, _transpose, _convolve)
ACTIVATION_NOISE: tuple[Operation, ...] = (_zero, _negate, _scale, _exchange, _flip, _convolve, _drop, _other_activation)


def _some(x: Tensor, operations: tuple[Operation, ...], share: float, generator: torch.Generator) -> Tensor:
    """One random operation on a random `share` of the entries along the first axis, at least one."""
    chosen = torch.randperm(len(x), generator=generator)[: max(1, round(share * len(x)))]
    operation = operations[int(torch.randint(len(operations), (), generator=generator))]
    changed = x.clone()
    changed[chosen] = operation(x[chosen], generator)
    return changed


def disturbed_weights(network: ImageToImage, generator: torch.Generator, share: float = 0.1) -> ImageToImage:
    """A copy of the network, a `share` of the filters of every layer but the last changed by one random operation."""
    network = copy.deepcopy(network)
    layers = [module for module in network.modules() if isinstance(module, nn.Conv2d)]
    with torch.no_grad():
        for layer in layers[:-1]:
            layer.weight.copy_(_some(layer.weight, WEIGHT_NOISE, share, generator))
    return network


def activation_noise(generator: torch.Generator, share: float = 0.1) -> Disturbance:
    """A disturbance for `ImageToImage.forward`, on one image: a `share` of every layer's channels by one random operation."""

    def disturb(layer: int, features: Tensor) -> Tensor:
        return torch.stack([_some(channels, ACTIVATION_NOISE, share, generator) for channels in features])

    return disturb


@torch.no_grad()
def disturbed(network: ImageToImage, rgb: Tensor, kind: str, generator: torch.Generator) -> Tensor:
    """One image through the disturbed network, `(3, H, W)` RGB in [0, 1] -> the same, clamped.

    Args:
        kind: `"weights"` or `"activations"`.

    Raises:
        ValueError: another kind.
    """
    if kind == "weights":
        out = disturbed_weights(network, generator)(rgb[None])
    elif kind == "activations":
        out = network(rgb[None], activation_noise(generator))
    else:
        raise ValueError(f"the kind of noise must be weights or activations, got {kind!r}")
    return out[0].clamp(0, 1)
