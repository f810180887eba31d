"""Transformed filters kept between evaluations of a layer, for as long as they are the layer's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


class FilterCache:
    """Holds one tensor made from parameters, and makes it anew whenever one of them has changed.

    Version counters see optimisers, `load_state_dict` and in-place updates, but not writes through `parameter.data`.
    So a parameter is also multiplied by a fixed random vector: a change too small to move that product is too small
    to move the layer's output beyond rounding. Copies and pickles of a cache are empty.
    """

    def __init__(self) -> None:
        self._entry: tuple[list[object], list[Tensor], list[Tensor], Tensor] | None = None

    def get(self, parameters: Sequence[Tensor], dtype: torch.dtype, make: Callable[[], Tensor]) -> Tensor:
        """`make()`, or what it returned before if `parameters` and `dtype` are what they were then.

        Nothing is kept while gradients are recorded or a graph is traced, and on devices where asking whether a value has changed
        would wait for everything queued before.
        """
        recorded = torch.is_grad_enabled() or torch.compiler.is_compiling()
        if recorded or not all(map(_lasting, parameters)):
            self._entry = None
            return make()
        key: list[object] = [dtype, *((p._version, p.data_ptr(), p.dtype) for p in parameters)]
        # Half precision would round away what its own products are to show.
        rows = [p.detach().flatten(1).to(torch.promote_types(p.dtype, torch.float32)) for p in parameters]
        if self._entry is not None:
            old_key, probes, fingerprints, value = self._entry
            if key == old_key and all(torch.equal(r @ p, f) for r, p, f in zip(rows, probes, fingerprints, strict=True)):
                return value
        value, self._entry = make(), None
        if all(value.data_ptr() != p.data_ptr() for p in parameters):  # else it is the parameter itself, seen differently
            generator = torch.Generator().manual_seed(0)
            probes = [torch.randn(r.shape[1], generator=generator, dtype=torch.float64).to(r.dtype) for r in rows]
            self._entry = key, probes, [r @ p for r, p in zip(rows, probes, strict=True)], value
        return value

    def __reduce__(self) -> tuple[type[FilterCache], tuple[()]]:
        return type(self), ()


def _lasting(parameter: Tensor) -> bool:
    real = isinstance(parameter, nn.Parameter) and type(parameter.detach()) is Tensor  # not a tracer's
    return real and parameter.device.type == "cpu" and not parameter.is_inference()
