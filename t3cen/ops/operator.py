"""How this package's operators are made known to PyTorch: one call gives shapes, gradients, tangents and batches their rules."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.library import Library
from torch.utils.flop_counter import register_flop_formula

NAMESPACE = "t3cen"
_LIBRARY = Library(NAMESPACE, "DEF")

Kernel = Callable[..., Any]
DECOMPOSITIONS: dict[Any, Kernel] = {}
"""Of every operator, the same in PyTorch's own operations: for programs that run where this package is not installed."""


def operator(
    schema: str,
    *,
    fake: Kernel,
    save: Callable[[Any, tuple[Any, ...], Any], Sequence[Tensor | None]],
    backward: Kernel,
    tangent: Kernel,
    batched: Kernel | None = None,
    flops: Kernel | None = None,
    plain: Kernel | None = None,
) -> Callable[[Kernel], Kernel]:
    """Register a kernel for every device, and return the differentiable function that layers call.

    A device may have a kernel of its own (`kernel_for`). Under `torch.compile` and `torch.export` the operator is one node of the
    graph; to profilers it is one event, to `FlopCounterMode` what `flops` says.

    Args:
        schema: name, arguments and results, as in `torch.library`.
        fake: the result's shape and dtype, as an empty tensor, from the same arguments.
        save: notes on a context what the rules below need, but for the tensors, which it returns.
        backward: `(ctx, *gradients)` to one gradient an argument; itself differentiable.
        tangent: `(ctx, *tangents)` to the tangent of the result; the tensors that `save` returned are in `ctx.primals`.
        batched: the rule of `torch.vmap`, `(info, in_dims, *arguments)` to results and their axes; None runs the entries of the
            batch one after the other.
        flops: from shapes, twice the multiply-accumulates.
        plain: the same in PyTorch's own operations for inputs of any size; None where the kernel is that.
    """
    name = schema.partition("(")[0]

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        tensors = save(ctx, inputs, output)
        ctx.save_for_backward(*tensors)
        # Tangents are asked for at once, while the caller holds the arguments. A strong reference would keep them through
        # activation checkpointing.
        ctx.references = [None if t is None else weakref.ref(t) for t in tensors]

    def jvp(ctx: Any, *tangents: Any) -> Any:
        ctx.primals = [None if t is None else t() for t in ctx.references]
        try:
            return tangent(ctx, *tangents)
        finally:
            del ctx.primals

    def register(kernel: Kernel) -> Kernel:
        _LIBRARY.define(schema)
        _LIBRARY.impl(name, _in_own_precision(kernel), "CompositeExplicitAutograd")
        op = getattr(torch.ops.t3cen, name).default
        DECOMPOSITIONS[op] = plain or kernel

        def forward(*args: Any) -> Any:
            return op(*args)

        forward.__signature__ = inspect.signature(forward)  # type: ignore[attr-defined]  # asked for at every call

        def call(*args: Any) -> Any:
            # Compilers take an operator that has a gradient; torch.func and forward mode need a Function around it.
            return op(*args) if torch.compiler.is_compiling() else function.apply(*args)  # type: ignore[attr-defined]

        rule = batched or functools.partial(one_by_one, call)
        rules = {"forward": forward, "setup_context": setup_context, "backward": backward, "jvp": jvp, "vmap": rule}
        function = type(name, (torch.autograd.Function,), {key: staticmethod(value) for key, value in rules.items()})
        qualified = f"{NAMESPACE}::{name}"
        torch.library.register_fake(qualified, _on_one_device(name, fake), lib=_LIBRARY)
        torch.library.register_autograd(qualified, backward, setup_context=setup_context, lib=_LIBRARY)
        torch.library.register_vmap(qualified, rule, lib=_LIBRARY)
        if flops is not None:
            register_flop_formula(op.overloadpacket, get_raw=False)(flops)
        call.__doc__, call.__name__ = kernel.__doc__, name
        return call

    return register


def _on_one_device(name: str, fake: Kernel) -> Kernel:
    """The rule, for tensors that a kernel can take together."""

    @functools.wraps(fake)
    def checked(*args: Any) -> Any:
        devices = sorted({str(a.device) for a in args if isinstance(a, Tensor)})
        if len(devices) > 1:
            raise ValueError(f"{name}: tensors on {' and '.join(devices)}; move the layer and its input to one device")
        return fake(*args)

    return checked


def kernel_for(device: str, name: str, kernel: Kernel) -> None:
    """Give an operator a kernel of its own on a device, `"CPU"` or `"CUDA"`."""
    _LIBRARY.impl(name, _in_own_precision(kernel), device)


def _in_own_precision(kernel: Kernel) -> Kernel:
    """The kernel out of reach of an autocast, which would round what is inside."""

    @functools.wraps(kernel)
    def run(*args: Any) -> Any:
        device = args[0].device.type
        if not torch.is_autocast_enabled(device):
            return kernel(*args)
        with torch.autocast(device, enabled=False):
            return kernel(*args)

    return run


def as_own(result: Tensor) -> Tensor:
    """A kernel's result that may be a view, as a tensor of its own: autograd forbids changes in place of an operator's views."""
    return result.new_empty(0).set_(result.untyped_storage(), result.storage_offset(), result.shape, result.stride())


def one_by_one(call: Kernel, info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
    """The rule of `torch.vmap` for any function of tensors: the entries of the batch one after the other."""
    outputs = [
        call(*(a.select(dim, i) if isinstance(dim, int) else a for a, dim in zip(args, in_dims, strict=True)))
        for i in range(info.batch_size)
    ]
    if isinstance(outputs[0], Tensor):
        return torch.stack(outputs), 0
    return tuple(torch.stack(parts) for parts in zip(*outputs, strict=True)), (0,) * len(outputs[0])
