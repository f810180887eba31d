"""Modules one after another, norms together with what follows them."""

from __future__ import annotations

from torch import Tensor, nn

from t3cen.nn.norm import GroupBatchNorm2d, normalized


class Sequential(nn.Sequential):
    """`nn.Sequential` that has a norm and the ReLU behind it done at once (`norm.normalized`), with the same result."""

    def forward(self, input: Tensor) -> Tensor:
        modules = iter(self)
        for module in modules:
            follower = next(modules, None) if isinstance(module, GroupBatchNorm2d) else None
            input = module(input) if follower is None else normalized(module, follower, input)
        return input
