"""Modules one after another, norms together with what follows them."""

from __future__ import annotations

from torch import Tensor, nn

from t3cen.nn.norm import GroupBatchNorm2d, normalized


class Sequential(nn.Sequential):
    """`nn.Sequential` that has a norm and the ReLU behind it done at once (`norm.normalized`), with the same result."""

    def forward(self, input: Tensor) -> Tensor:
        modules = list(self)
        while modules:
            module = modules.pop(0)
            together = isinstance(module, GroupBatchNorm2d) and modules and isinstance(modules[0], nn.ReLU)
            input = normalized(module, modules.pop(0), input) if together else module(input)
        return input
