"""Pooling over the group: from an equivariant function on the group to an invariant one."""

from __future__ import annotations

from torch import Tensor, nn

MODES = ("max", "mean")


class GroupPool(nn.Module):
    """Maximum or mean over the group axis, `(B, G, C, ...)` to `(B, C, ...)`; invariant to the group's action.

    Args:
        mode: `"max"` (the paper's) or `"mean"`.

    Raises:
        ValueError: another mode, or an input of fewer than three axes.

    Source: paper, appendix on architectures: a max-pool over the group before the classifier.
    """

    def __init__(self, mode: str = "max") -> None:
        super().__init__()
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        self.mode = mode

    def forward(self, input: Tensor) -> Tensor:
        """`(B, G, C, ...)` to `(B, C, ...)`."""
        if input.ndim < 3:
            raise ValueError(f"{input.ndim} axes in the input {tuple(input.shape)}, at least 3 expected: (B, G, C, ...)")
        return input.amax(1) if self.mode == "max" else input.mean(1)

    def extra_repr(self) -> str:
        return f"mode={self.mode}"
