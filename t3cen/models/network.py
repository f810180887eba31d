"""What every network shares: lifting, normalisation, trunk, head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from t3cen.nn import GroupBatchNormAct2d
from t3cen.nn.liftings.base import Lifting


class ConvFactory(Protocol):
    """Makes one convolution `(B, G, C, H, W) -> (B, G', C', H', W')`."""

    def __call__(
        self, in_channels: int, out_channels: int, kernel_size: int, *, stride: int = 1, padding: int = 0, bias: bool = False
    ) -> nn.Module: ...


NonlinearFactory = Callable[[nn.Module], nn.Module]
"""Makes a nonlinearity on functions on the group out of one that treats all group elements alike."""

MaxPoolFactory = Callable[[int], nn.Module]
"""Makes max-pooling over the plane, `(B, G, C, H, W) -> (B, G, C, H // size, W // size)`, from the side of its windows."""


def norm_act(channels: int, nonlinear: NonlinearFactory) -> GroupBatchNormAct2d:
    """Batch norm and ReLU on functions on the group, between which a shortcut may be added."""
    return GroupBatchNormAct2d(channels, activation=nonlinear(nn.ReLU()))


class Normalize(nn.Module):
    """Subtract a mean and divide by a standard deviation per colour channel, the same for every group element.

    Args:
        mean, std: three numbers each, for red, green, blue in [0, 1].
    """

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        if len(mean) != 3 or len(std) != 3 or min(std) <= 0:
            raise ValueError(f"mean and std need three numbers each and std > 0, got {tuple(mean)} and {tuple(std)}")
        # Constants of the configuration, not of the training: they are not saved with the weights.
        self.register_buffer("mean", torch.tensor(list(mean)).view(3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(list(std)).view(3, 1, 1), persistent=False)

    def forward(self, lifted: Tensor) -> Tensor:
        return (lifted - self.mean.to(lifted.dtype)) / self.std.to(lifted.dtype)

    def extra_repr(self) -> str:
        return f"mean={self.mean.flatten().tolist()}, std={self.std.flatten().tolist()}"


class Network(nn.Module):
    """A classifier on images that works on functions on a colour group.

    `forward(rgb)` takes `(B, 3, H, W)` RGB in [0, 1] and returns logits `(B, num_classes)`. In between,
    `lifting(rgb)` is `(B, G, 3, H, W)`, `trunk(lifted)` is `(B, G, C, H', W')` and equivariant, and
    `head(features)` ends in a pooling over the group, which makes the logits invariant.
    """

    lifting: Lifting
    channels: int
    """Channels of the final feature map."""
    class_names: tuple[str, ...] = ()
    """What its logits stand for, where `t3cen.load` made it."""
    image_size: int | None = None
    """Height and width of the images it was trained on, where `t3cen.load` made it."""

    def trunk(self, lifted: Tensor) -> Tensor:
        raise NotImplementedError

    def head(self, features: Tensor) -> Tensor:
        raise NotImplementedError

    def features(self, rgb: Tensor) -> Tensor:
        return self.trunk(self.lifting(rgb))

    def forward(self, rgb: Tensor) -> Tensor:
        return self.head(self.features(rgb))
