"""`fixed_conv2d` on the CPU: what follows from the shapes is worked out once, and a call is three of compiled code."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from t3cen.ops import kernels
from t3cen.ops.cpu import columns, conv, products, transform
from t3cen.ops.geometry import ConvGeometry
from t3cen.ops.operator import kernel_for
from t3cen.ops.transform import rank


class _Plan(NamedTuple):
    """How maps of one shape are convolved.

    Attributes:
        signal, output: kernels of the transforms.
        job: of the convolution, without its tensors.
        packed: filters as the convolution reads them.
        maps, made, result: shapes of the transformed input, of the products and of the result.
    """

    signal: columns.Kernel
    output: columns.Kernel
    job: conv._Job
    packed: Tensor
    maps: tuple[int, ...]
    made: tuple[int, ...]
    result: tuple[int, ...]


MOST_SHAPES = 64
"""Of maps, that are remembered for the filters of one layer."""
_PLANS = WeakTensorKeyDictionary()
"""By filters: what they were, and by shape of the maps a plan, or None for a shape that `products` is as good for."""


def forward(input: Tensor, filters: Tensor, bias: Tensor | None, orders: list[int], numbers: list[int]) -> Tensor:
    """`ops.fixed.fixed_conv2d`."""
    plan = _planned(input, filters, orders, numbers)
    if plan is None:
        return products.forward(input, filters, bias, orders, numbers)
    maps, made, out = input.new_empty(plan.maps), input.new_empty(plan.made), input.new_empty(plan.result)
    _transform(plan.signal, input, maps)
    job = conv._Job.from_buffer_copy(plan.job)
    job.maps, job.packed, job.out = maps.data_ptr(), plan.packed.data_ptr(), made.data_ptr()
    conv._run(job)
    _transform(plan.output, made, out)
    return out if bias is None else out.add_(bias[:, None, None])


def _planned(input: Tensor, filters: Tensor, orders: list[int], numbers: list[int]) -> _Plan | None:
    state = None if filters.is_inference() else (filters._version, filters.data_ptr(), kernels.mode())
    if state is None or input.dtype != torch.float32 or filters.requires_grad or not input.is_contiguous():
        return None
    known = _PLANS.get(filters)
    if known is None or known[0] != state:
        known = _PLANS[filters] = (state, {})
    plans, key = known[1], (*input.shape, *orders, *numbers)
    plan = plans.get(key, ...)
    if plan is ...:
        plan = _plan(input, filters, orders, ConvGeometry.of(numbers))
        if len(plans) >= MOST_SHAPES:
            plans.clear()
        plans[key] = plan
    return plan


def _plan(input: Tensor, filters: Tensor, orders: list[int], geometry: ConvGeometry) -> _Plan | None:
    (batch, size, channels, *plane), rows = input.shape, rank(orders)
    groups, outputs = rows * (channels // filters.shape[1]), len(filters) // rows
    if not conv.takes(input[:, 0], filters, groups, geometry, True) or len(list(products._chunks(input, filters, groups))) > 1:
        return None
    result = geometry.output_size(plane, filters.shape[2:])
    maps, made = input.new_empty(batch, rows, channels, *plane), input.new_empty(batch, rows, outputs, *result)
    signal, output = (_kernel(orders, name, f) for name, f in (("signal", input), ("output", made)))
    if signal is None or output is None:
        return None
    job = conv._job(maps.flatten(1, 2), filters, groups, geometry.stride[0])
    packed = products._packed(filters, groups)
    return _Plan(signal, output, job, packed, maps.shape, made.shape, (batch, size, outputs, *result))


def _kernel(orders: list[int], name: str, f: Tensor) -> columns.Kernel | None:
    if f[:1].numel() < transform.LEAST_SIZE:
        return None
    return columns.compiled(transform.routine, tuple(orders), name, False, dtype=f.dtype)


def _transform(kernel: columns.Kernel, f: Tensor, out: Tensor) -> None:
    """Of contiguous `(B, G, C, H, W)`, into `(B, R, C, H, W)`."""
    count, (each, row), (other, to) = f.stride(1), f.stride()[:2], out.stride()[:2]
    given = columns._Matrix(f.data_ptr(), each, row)
    kernel._function(given, given, columns._Matrix(out.data_ptr(), other, to), len(f), count, columns.threads_for(f))


kernel_for("CPU", "fixed_conv2d", forward)
