"""How this package's operators are made known to PyTorch: one call gives shapes, gradients, tangents and batches their rules."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.library import Library
from torch.utils.flop_counter import register_flop_formula

from t3cen.ops.axes import has_numbers, uncast

NAMESPACE = "t3cen"
_LIBRARY = Library(NAMESPACE, "DEF")

Function = Callable[..., Any]


class Operator(Protocol):
    """What layers call: the function itself is `plain`, what runs on any device `kernel`."""

    plain: Function
    kernel: Function

    def __call__(self, *args: Any) -> Any: ...


DECOMPOSITIONS: dict[Any, Function] = {}
"""Of every operator, the same in PyTorch's own operations: for programs that run where this package is not installed."""


def operator(
    schema: str,
    *,
    save: Function = lambda arguments, results: arguments,
    backward: Function | None = None,
    constants: int = 0,
    flops: Function | None = None,
    kernel: Function | None = None,
    fake: Function | None = None,
) -> Callable[[Function], Operator]:
    """Register a function in PyTorch's own operations as an operator, and return the differentiable function that layers call.

    What is not said follows from the function: shapes from a run on fake tensors, gradients of any order from its own. A tangent
    is the transpose of the gradient, and batches run entry by entry. A device may have a kernel of its own (`kernel_for`).

    Under `torch.compile` and `torch.export` the operator is one node of the graph; to profilers it is one event, to
    `FlopCounterMode` what `flops` says.

    Args:
        schema: name, arguments and results, as in `torch.library`.
        save: from arguments and results to what `backward` needs.
        backward: `(saved, needed, *gradients)` to the gradients of the arguments, those that are `needed` at least, and of the
            first ones at least; itself differentiable, and linear in the gradients.
        constants: how many results, the last ones, have no gradient.
        flops: from shapes, twice the multiply-accumulates.
        kernel: from the function to the same for any device, faster or in less memory.
        fake: the shape of the result, where a run on fake tensors would be long.
    """
    name = schema.partition("(")[0]

    def register(plain: Function) -> Operator:
        _LIBRARY.define(schema)
        default = kernel(plain) if kernel else plain
        _LIBRARY.impl(name, _as_kernel(default), "CompositeExplicitAutograd")
        op = getattr(torch.ops.t3cen, name).default
        DECOMPOSITIONS[op] = plain

        def forward(*args: Any) -> Any:
            return op(*args)

        forward.__signature__ = inspect.signature(forward)  # type: ignore[attr-defined]  # asked for at every call

        def call(*args: Any) -> Any:
            # Compilers take an operator that has a gradient; torch.func and forward mode need a Function around it.
            followed = not torch.compiler.is_compiling() and any(isinstance(a, Tensor) and _followed(a) for a in args)
            return function.apply(*args) if followed else op(*args)  # type: ignore[attr-defined]

        rules = {"forward": forward, **_rules(save, backward or functools.partial(_gradients, plain), constants)}
        rules["vmap"] = functools.partial(_one_by_one, call)
        function = type(name, (torch.autograd.Function,), {key: staticmethod(value) for key, value in rules.items()})
        qualified = f"{NAMESPACE}::{name}"
        torch.library.register_fake(qualified, _on_one_device(name, fake or default), lib=_LIBRARY)
        torch.library.register_autograd(qualified, rules["backward"], setup_context=rules["setup_context"], lib=_LIBRARY)
        torch.library.register_vmap(qualified, rules["vmap"], lib=_LIBRARY)
        if flops is not None:
            register_flop_formula(op.overloadpacket, get_raw=False)(flops)
        call.__doc__, call.__name__ = plain.__doc__, name
        made = cast(Operator, call)
        made.plain, made.kernel = plain, default
        return made

    return register


def _followed(t: Tensor) -> bool:
    """Whether what is made of it is differentiated, or transformed by `torch.func`."""
    recorded = t.requires_grad and torch.is_grad_enabled()
    return recorded or not has_numbers(t) or forward_ad.unpack_dual(t).tangent is not None


def _rules(save: Function, gradients: Function, constants: int) -> dict[str, Function]:
    """Those of an `autograd.Function`."""

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        saved = save(inputs, output)
        tensors = [value if isinstance(value, Tensor) else None for value in saved]
        ctx.save_for_backward(*tensors)
        ctx.others = [None if isinstance(value, Tensor) else value for value in saved]
        # Tangents are asked for at once, while the caller holds the arguments. A strong reference would keep them through
        # activation checkpointing.
        ctx.references = [None if t is None else weakref.ref(t) for t in tensors]
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.mark_non_differentiable(*outputs[len(outputs) - constants :])
        ctx.results = [(t.shape, {"dtype": t.dtype, "device": t.device}) for t in outputs]

    def together(tensors: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        return [other if tensor is None else tensor for tensor, other in zip(tensors, others, strict=True)]

    def backward(ctx: Any, *of_results: Tensor) -> Any:
        made = gradients(together(ctx.saved_tensors, ctx.others), ctx.needs_input_grad, *of_results)
        needed = [*made, *[None] * (len(ctx.needs_input_grad) - len(made))]
        return tuple(t if wanted else None for t, wanted in zip(needed, ctx.needs_input_grad, strict=True))

    def jvp(ctx: Any, *tangents: Any) -> Any:
        saved = together([None if t is None else t() for t in ctx.references], ctx.others)
        needed = [t is not None for t in tangents]

        def transposed(*of_results: Tensor) -> tuple[Tensor, ...]:
            made = gradients(saved, needed, *of_results)
            return tuple(t for t, wanted in zip(made, needed, strict=False) if wanted)

        zeros = [torch.zeros(shape, **kind) for shape, kind in ctx.results]
        transpose = torch.func.vjp(transposed, *zeros)[1]
        made = transpose(tuple(t for t in tangents if t is not None))
        made = [*made[: len(made) - constants], *[None] * constants]
        return made[0] if len(made) == 1 else tuple(made)

    return {"setup_context": setup_context, "backward": backward, "jvp": jvp}


def _gradients(plain: Function, arguments: Sequence[Any], needed: Sequence[bool], *of_results: Tensor) -> list[Tensor | None]:
    """Those of a function in PyTorch's own operations."""
    places = [place for place, wanted in enumerate(needed) if wanted]

    def of_needed(*tensors: Tensor) -> Any:
        given = dict(zip(places, tensors, strict=True))
        return plain(*(given.get(place, argument) for place, argument in enumerate(arguments)))

    pull = torch.func.vjp(of_needed, *(arguments[place] for place in places))[1]
    made = dict(zip(places, pull(of_results[0] if len(of_results) == 1 else of_results), strict=True))
    return [made.get(place) for place in range(len(arguments))]


def _on_one_device(name: str, fake: Function) -> Function:
    """The rule, for tensors that a kernel can take together."""

    @functools.wraps(fake)
    def checked(*args: Any) -> Any:
        devices = sorted({str(a.device) for a in args if isinstance(a, Tensor)})
        if len(devices) > 1:
            raise ValueError(f"{name}: tensors on {' and '.join(devices)}; move the layer and its input to one device")
        return fake(*args)

    return checked


def kernel_for(device: str, name: str, kernel: Function) -> None:
    """Give an operator a kernel of its own on a device, `"CPU"` or `"CUDA"`."""
    _LIBRARY.impl(name, _as_kernel(kernel), device)


def _as_kernel(function: Function) -> Function:
    """The function out of reach of an autocast; its results are no views, for those cannot be changed in place."""

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        with uncast(args[0].device):
            made = function(*args)
        return _own(made) if isinstance(made, Tensor) else tuple(map(_own, made))

    return run


def _own(t: Tensor) -> Tensor:
    return t.new_empty(0).set_(t.untyped_storage(), t.storage_offset(), t.shape, t.stride()) if t._is_view() else t


def _one_by_one(call: Function, info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
    """The rule of `torch.vmap` for any function of tensors: the entries of the batch one after the other."""
    outputs = [
        call(*(a.select(dim, i) if isinstance(dim, int) else a for a, dim in zip(args, in_dims, strict=True)))
        for i in range(info.batch_size)
    ]
    if isinstance(outputs[0], Tensor):
        return torch.stack(outputs), 0
    return tuple(torch.stack(parts) for parts in zip(*outputs, strict=True)), (0,) * len(outputs[0])
