"""Any 2-D module, applied to every group element."""

from __future__ import annotations

from torch import Tensor, nn


class Planar(nn.Module):
    """Apply a module on `(N, C, H, W)` to every group element of `(B, G, C, H, W)`.

    The module sees batch and group as one batch axis, so it treats all group elements alike and stays equivariant.

    Args:
        module: e.g. `nn.MaxPool2d(2)`, `nn.AdaptiveAvgPool2d(1)`, `nn.Upsample(scale_factor=2)`.

    Raises:
        ValueError: the input does not have five axes.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, C, H, W)` to `(B, G, ...)`, whatever the module makes of the last three axes."""
        if input.ndim != 5:
            raise ValueError(f"{input.ndim} axes in the input {tuple(input.shape)}, 5 expected: (B, G, C, H, W)")
        return self.module(input.flatten(0, 1)).unflatten(0, input.shape[:2])
