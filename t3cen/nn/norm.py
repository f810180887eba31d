"""Batch normalisation with one statistic per channel, shared by the whole group, alone or with what follows it in a network."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from t3cen.ops import batch_norm_act


class GroupBatchNorm2d(nn.BatchNorm2d):
    """`nn.BatchNorm2d` whose mean and variance are taken over batch, group and plane.

    One statistic per (group element, channel) would be equivariant in training, where the batch's own statistics move
    with the group, but not in evaluation, where the running ones stay. Shared statistics are equivariant in both.
    `nn.SyncBatchNorm.convert_sync_batchnorm` knows only the type it inherits from, and would take the group for the channels.

    Args: those of `nn.BatchNorm2d`.

    Shape:
        `(B, G, C, H, W)`, or `(N, C, H, W)` with batch and group already folded; output shaped like the input.

    Raises:
        ValueError: another number of axes, or of channels than `num_features`; in training, one value per channel.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Normalise; shape unchanged."""
        self._check(input)
        return self._by_the_batch(input, None, False) if self._in_training() else self._by_running_statistics(input)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in (4, 5):
            raise ValueError(
                f"{input.ndim} axes in the input {tuple(input.shape)}, 5 expected: (B, G, C, H, W), or 4 when folded"
            )
        if input.shape[-3] != self.num_features:
            raise ValueError(f"{input.shape[-3]} channels in the input {tuple(input.shape)}, {self.num_features} expected")

    def _in_training(self) -> bool:
        return self.training or self.running_mean is None or self.running_var is None

    def _by_running_statistics(self, input: Tensor) -> Tensor:
        # With gradients an activation in place on the result costs copies: with five axes it is a view.
        statistics = (self.running_mean, self.running_var, self.weight, self.bias)
        return F.batch_norm(input.flatten(0, -4), *statistics, False, 0.0, self.eps).view(input.shape)

    def _by_the_batch(self, input: Tensor, shortcut: Tensor | None, relu: bool) -> Tensor:
        out, mean, variance = batch_norm_act(input, self.weight, self.bias, shortcut, self.eps, relu)
        if self.training and self.track_running_stats:
            count = input.numel() // self.num_features
            self._track(mean, variance * (count / max(count - 1, 1)))
        return out

    @torch.no_grad()
    def _track(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics as `nn.BatchNorm2d` does."""
        momentum = self.momentum
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if momentum is None:
                momentum = 1 / float(self.num_batches_tracked)
        for running, found in ((self.running_mean, mean), (self.running_var, variance)):
            if running is not None:
                running.lerp_(found.to(running.dtype), momentum or 0.0)


class GroupBatchNormAct2d(GroupBatchNorm2d):
    """`activation(norm(input))`, or `activation(norm(input) + shortcut)`: what follows a convolution of a network.

    In training norm, sum and ReLU are one operator, which keeps less for the backward pass and takes fewer passes over the maps.

    Args:
        num_features, options: those of `GroupBatchNorm2d`; the names in `state_dict` are its too.
        activation: a module, called after norm and sum; None, or an `nn.ReLU`, which is not kept as a module, for ReLU.

    Shape:
        input and shortcut as the input of `GroupBatchNorm2d`, of one shape; output likewise.

    Raises:
        ValueError: as `GroupBatchNorm2d`.
    """

    def __init__(self, num_features: int, *, activation: nn.Module | None = None, **options: Any) -> None:
        super().__init__(num_features, **options)
        self.activation = None if type(activation) is nn.ReLU else activation

    def forward(self, input: Tensor, shortcut: Tensor | None = None) -> Tensor:
        """Normalise, add, activate; shape unchanged."""
        alike = shortcut is None or (shortcut.shape == input.shape and shortcut.dtype == input.dtype)
        if self.activation is None and alike and self._in_training():
            self._check(input)
            return self._by_the_batch(input, shortcut, True)
        return activated(super().forward(input), shortcut, self.activation)


class ResidualActivation(nn.Module):
    """`activation(input)`, or of `input + shortcut`: a `GroupBatchNormAct2d` whose norm is part of the convolution before.

    Args:
        activation: None is ReLU.

    Shape:
        that of `input`, which may be changed in place.
    """

    def __init__(self, activation: nn.Module | None = None) -> None:
        super().__init__()
        self.activation = activation

    def forward(self, input: Tensor, shortcut: Tensor | None = None) -> Tensor:
        """Add, activate; shape unchanged."""
        return activated(input, shortcut, self.activation)


def activated(f: Tensor, shortcut: Tensor | None, activation: nn.Module | None) -> Tensor:
    """`activation(f)`, or of the sum; ReLU, the default, may change `f` in place."""
    total = f if shortcut is None else f + shortcut
    # In place on a view, autograd would copy more than another result takes.
    return F.relu(total, inplace=not (total.requires_grad and shortcut is None)) if activation is None else activation(total)
