"""Whether a converted network treats all elements of the group alike, and if not, which module does not."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from t3cen.conversion.trace import described, naming
from t3cen.groups import CyclicProduct

BOUND = 1e-6
"""Of the relative difference, in float64."""
BATCH = 3
"""Odd, so that halves of the batch are not whole functions on the group."""
RANDOM = {"StochasticDepth", "DropPath", "DropBlock2d"}
"""Of torchvision and timm, beside PyTorch's dropout: switched off, since they take or leave each image by itself."""

Sight = tuple[str, bool, Tensor]


def check_alike(body: nn.Module, group: CyclicProduct, example: Tensor) -> None:
    """Move a random function on the group by one step of every factor, and see whether all that is computed moves along.

    Args:
        body: a network on `(B G, C, H, W)`; it is not modified.
        group: the group.
        example: `(B, C, H, W)`: channels and size of the images.

    Raises:
        ValueError: the module that treats the images of a batch unlike one another, in training or in evaluation.
    """
    if group.order == 1:
        return
    body = copy.deepcopy(body).double()
    device = next(body.parameters()).device
    generator = torch.Generator().manual_seed(0)
    f = torch.rand(BATCH, group.order, *example.shape[1:], dtype=torch.float64, generator=generator).to(device)
    step = tuple(1 % order for order in group.orders)
    for training in (False, True):
        set_mode(body, training)
        before, moved = _seen(body, f), _seen(body, group.act(f, step))
        guilty = next((a for a, b in zip(before, moved, strict=True) if not _moved(a, b, group, step)), None)
        if guilty and all(torch.equal(a, b) for (*_, a), (*_, b) in zip(before, _seen(body, f), strict=True)):
            name, enters, _ = guilty
            raise ValueError(
                f"{described(body, name.rpartition('.')[0] if enters else name)} treats the images of a batch unlike one another "
                f"{'in training' if training else 'in evaluation'}, as attention or normalisation across samples does. "
                "The group's elements are such images, so the network would not be equivariant"
            )


def _moved(sight: Sight, other: Sight, group: CyclicProduct, step: tuple[int, ...]) -> bool:
    want = group.act(sight[2].unflatten(0, (BATCH, -1)), step).flatten(0, 1)
    return bool((other[2] - want).abs().max() <= BOUND * want.abs().max())


def set_mode(body: nn.Module, training: bool) -> None:
    """Training without what is drawn at random, or evaluation."""
    body.train(training)
    for module in body.modules():
        if is_random(module):
            module.eval()


def is_random(module: nn.Module) -> bool:
    """Whether it is a module that multiplies by what is drawn at random."""
    return isinstance(module, _DropoutNd) or type(module).__name__ in RANDOM


@torch.no_grad()
def _seen(body: nn.Module, f: Tensor) -> list[Sight]:
    """What enters and leaves every module, in order: its name, which of the two, and one number an image."""
    sights: list[Sight] = []
    count = f.shape[0] * f.shape[1]

    def look(name: str, enters: bool, value: Any) -> None:
        if isinstance(value, Tensor) and value.is_floating_point() and value.ndim and len(value) == count:
            flat = value.reshape(count, -1)
            weights = torch.arange(flat.shape[1], dtype=flat.dtype, device=flat.device).cos()
            sights.append((name, enters, flat @ weights))

    hooks = []
    for name, module in body.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda _, args, name=name: look(name, True, args[0] if args else None)))
        hooks.append(module.register_forward_hook(lambda _, __, out, name=name: look(name, False, out)))
    state = {name: value.clone() for name, value in body.named_buffers()}
    try:
        with torch.random.fork_rng(devices=[]), naming(body):
            body(f.flatten(0, 1))
    finally:
        for hook in hooks:
            hook.remove()
        for name, value in body.named_buffers():
            value.copy_(state[name])
    return sights
