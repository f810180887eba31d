"""Batch normalisation with one statistic per channel, shared by the whole group."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.modules import module as hooks

from t3cen.ops.cpu import norm as norm_ops


class GroupBatchNorm2d(nn.BatchNorm2d):
    """`nn.BatchNorm2d` whose mean and variance are taken over batch, group and plane.

    One statistic per (group element, channel) would be equivariant in training, where the batch's own statistics move
    with the group, but not in evaluation, where the running ones stay. Shared statistics are equivariant in both.
    `nn.SyncBatchNorm.convert_sync_batchnorm` knows only the type it inherits from, and would take the group for the channels.

    Args: those of `nn.BatchNorm2d`.

    Shape:
        `(B, G, C, H, W)`, or `(N, C, H, W)` with batch and group already folded; output shaped like the input.

    Raises:
        ValueError: another number of axes, or of channels than `num_features`.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Normalise; shape unchanged."""
        if input.ndim not in (4, 5):
            raise ValueError(
                f"{input.ndim} axes in the input {tuple(input.shape)}, 5 expected: (B, G, C, H, W), or 4 when folded"
            )
        if input.shape[-3] != self.num_features:
            raise ValueError(f"{input.shape[-3]} channels in the input {tuple(input.shape)}, {self.num_features} expected")
        if norm_ops.suits(self, input):
            return norm_ops.normalize(self, input)
        if input.ndim == 4:
            return super().forward(input)
        # Not `view`: of an in-place activation on a view, autograd's backward pass copies the whole tensor four times.
        return torch.ops.aten._unsafe_view(super().forward(input.flatten(0, 1)), input.shape)


def normalized(norm: nn.Module, relu: nn.Module, f: Tensor, shortcut: Tensor | None = None) -> Tensor:
    """`relu(norm(f))`, or `relu(norm(f) + shortcut)`; in training on the CPU all of it at once, where modules and tensors allow.

    Args:
        norm, relu: any modules; those made into one are `GroupBatchNorm2d` and `nn.ReLU`, without hooks.
        f: as `norm` takes it.
        shortcut: shaped like `norm(f)`.
    """
    maps = (f,) if shortcut is None else (f, shortcut)
    if type(norm) is GroupBatchNorm2d and type(relu) is nn.ReLU and norm_ops.suits(norm, *maps) and not _hooked(norm, relu):
        return norm_ops.normalize(norm, f, True, shortcut)
    return relu(norm(f) if shortcut is None else norm(f) + shortcut)


def _hooked(*modules: nn.Module) -> bool:
    """Whether a call of one of them calls more than its `forward`."""
    kinds = ("forward_pre_hooks", "forward_hooks", "backward_pre_hooks", "backward_hooks")
    return any(getattr(hooks, f"_global_{kind}") or any(getattr(m, f"_{kind}") for m in modules) for kind in kinds)
