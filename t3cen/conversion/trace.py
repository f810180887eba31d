"""A network run without numbers, on the meta device, and what can be seen of it: its last layers, cuts, nonlinearities."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Cut = tuple[str, int, tuple[int, ...]]
LAYERS = (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)
SIZES = (32, 28, 64, 96, 128, 224, 299, 384)
"""Sides of the images that are tried, in pixels, where no example is given."""
NONLINEAR = {"relu", "hardtanh", "hardswish", "hardsigmoid", "silu", "gelu", "sigmoid", "tanh", "leaky_relu", "elu", "mish",
             "max_pool2d_with_indices", "adaptive_max_pool2d", "clamp", "clamp_min", "_softmax"}  # fmt: skip


def without_numbers(model: nn.Module) -> nn.Module:
    """A copy on the meta device, in training mode, where auxiliary outputs are computed too."""
    return copy.deepcopy(model).to("meta").train().requires_grad_(True)


@contextmanager
def naming(model: nn.Module, when: str = "") -> Iterator[list[str]]:
    """The names of the modules at work, the innermost last. An error inside becomes a ValueError that says which that is,
    and when it came."""
    stack: list[str] = []

    def leave(*_: Any) -> None:
        stack.pop()

    hooks = []
    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: stack.append(name), prepend=True))
        hooks.append(module.register_forward_hook(leave))
    try:
        yield stack
    except Exception as error:  # the network's own code may raise anything
        name = stack[-1] if stack else ""
        raise ValueError(f"{described(model, name)} fails{when}: {str(error).strip().splitlines()[0]}") from error
    finally:
        for hook in hooks:
            hook.remove()


def described(model: nn.Module, name: str) -> str:
    """A module by its name and type, as errors call it."""
    return f"{name or 'the network'} ({type(model.get_submodule(name)).__name__})"


class Trace(TorchDispatchMode):
    """One run of a network.

    Attributes:
        cuts: where tensors were cut: the module at work, the axis' size, and where.
        nonlinear: modules at work when something nonlinear happened, or two maps were multiplied, in order.
        shapes: of the first input of every module that ran.
        last: names of the layers between which and the outputs there is no other.
    """

    def __init__(self, model: nn.Module, example: Tensor, when: str = "") -> None:
        super().__init__()
        self.cuts: list[Cut] = []
        self.nonlinear: list[tuple[str, str]] = []
        self.shapes: dict[str, torch.Size] = {}
        self._batch = len(example)
        made: dict[Any, str] = {}

        def seen(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
            name = names[module]
            if args and isinstance(args[0], Tensor):
                self.shapes.setdefault(name, args[0].shape)
            if isinstance(module, LAYERS):
                made[output.grad_fn] = name

        names = {module: name for name, module in model.named_modules()}
        hooks = [module.register_forward_hook(seen) for module in names]
        try:
            with torch.enable_grad(), naming(model, when) as self._stack, self:
                output = model(example)
        finally:
            for hook in hooks:
                hook.remove()
        tensors = [leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor)]
        self.last = _first_met(tensors, made)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        out, op = func(*args, **(kwargs or {})), func.overloadpacket.__name__
        here = self._stack[-1] if self._stack else ""
        if op in ("slice", "select", "split", "split_with_sizes"):
            self._cut(here, op, *args)
        elif op.removesuffix("_") in NONLINEAR or (op in ("mul", "mul_") and self._maps(*args)):
            self.nonlinear.append((here, op))
        return out

    def _maps(self, *factors: Any) -> bool:
        return all(isinstance(f, Tensor) and f.ndim > 1 and len(f) == self._batch for f in factors)

    def _cut(self, here: str, op: str, f: Tensor, *args: Any) -> None:
        if op.startswith("split"):
            sizes, axis = args[0], args[1] if len(args) > 1 else 0
            size = f.shape[axis]
            steps = [sizes] * -(-size // sizes) if op == "split" else sizes
            places = [min(sum(steps[:i]), size) for i in range(1, len(steps))]
        else:
            axis, *bounds = args if args else (0,)
            size = f.shape[axis]
            places = [bounds[0], bounds[0] + 1] if op == "select" else [0 if b is None else b for b in bounds[:2]]
            places = [min(place + size if place < 0 else place, size) for place in places]
        self.cuts.append((here, size, tuple(places)))


def _first_met(outputs: list[Tensor], made: dict[Any, str]) -> frozenset[str]:
    """The layers that one meets first on the way back from the outputs."""
    found, seen, left = set(), set(), [output.grad_fn for output in outputs]
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node in made:
            found.add(made[node])
        else:
            left.extend(before for before, _ in node.next_functions)
    return frozenset(found)


def example_for(model: nn.Module, example: Tensor | None) -> Tensor:
    """Two images that a network on the meta device takes, there.

    Raises:
        ValueError: it takes none of the sizes that are tried.
    """
    first = next((m for m in model.modules() if isinstance(m, nn.Conv2d)), None)
    if first is None:
        raise ValueError(f"{type(model).__name__} has no nn.Conv2d: there is nothing to convert")
    dtype = first.weight.dtype
    if example is not None:
        return torch.empty(2, *example.shape[1:], dtype=dtype, device="meta")
    with torch.no_grad():
        for size in SIZES:
            images = torch.empty(2, first.in_channels, size, size, dtype=dtype, device="meta")
            try:
                model(images)
            except Exception as error:  # the network's own code may raise anything
                reason = str(error).strip().splitlines()[0]
            else:
                return images
    raise ValueError(f"the network takes no square images of {', '.join(map(str, SIZES))} pixels ({reason}); give an example=")
