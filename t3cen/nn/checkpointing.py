"""Activations made again in the backward pass instead of kept: memory bought with time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class CheckpointedSequential(nn.Sequential):
    """`nn.Sequential` that in training keeps only the inputs of its blocks for the backward pass, and makes the rest again.

    Outputs, gradients, buffers and the names in `state_dict` are those of `nn.Sequential`.

    Args:
        modules: as in `nn.Sequential`; the first of a block does not modify its input in place.
        starts: index of the first module of each block, the first one 0; None makes every module a block.
    """

    def __init__(self, *modules: nn.Module | OrderedDict[str, nn.Module], starts: Sequence[int] | None = None) -> None:
        super().__init__(*modules)  # type: ignore[arg-type]
        self.starts = tuple(range(len(self)) if starts is None else starts)

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return super().forward(input)
        modules = list(self)
        for start, end in zip(self.starts, [*self.starts[1:], len(modules)], strict=True):
            input = checkpointed(nn.Sequential(*modules[start:end]), input)
        return input


@torch.compiler.disable
def checkpointed(module: nn.Module, input: Tensor) -> Tensor:
    """`module(input)`, of which the input alone is kept for the backward pass, where the rest is made again.

    The second forward pass draws the random numbers of the first and works on copies of the buffers: a batch normalisation
    would count every batch twice. `torch.compile` cannot follow that, and leaves the module as it is.
    """
    return checkpoint(module, input, use_reentrant=False, context_fn=lambda: (nullcontext(), _copied_buffers(module)))


@contextmanager
def _copied_buffers(module: nn.Module) -> Iterator[None]:
    kept = [(part, name, buffer) for part in module.modules() for name, buffer in part.named_buffers(recurse=False)]
    try:
        for part, name, buffer in kept:
            setattr(part, name, buffer.clone())
        yield
    finally:
        for part, name, buffer in kept:
            setattr(part, name, buffer)
