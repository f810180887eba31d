"""Transformed filters kept between evaluations of a layer, for as long as they are the layer's."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


class FilterCache:
    """Holds one tensor made from a parameter, and makes it anew whenever the parameter has changed.

    Version counters see optimisers, `load_state_dict` and in-place updates, but not writes through `parameter.data`.
    So the parameter is also multiplied by a fixed random vector: a change too small to move that product is too small
    to move the layer's output beyond rounding. Copies and pickles of a cache are empty.
    """

    def __init__(self) -> None:
        self._entry: tuple[tuple[object, ...], Tensor, Tensor, Tensor] | None = None

    def get(self, parameter: Tensor, dtype: torch.dtype, make: Callable[[], Tensor]) -> Tensor:
        """`make()`, or what it returned before if `parameter` and `dtype` are what they were then.

        Nothing is kept while gradients are recorded, and on devices where asking whether a value has changed would wait
        for everything queued before.
        """
        keep = not torch.is_grad_enabled() and isinstance(parameter, nn.Parameter) and not parameter.is_inference()
        if not keep or parameter.device.type != "cpu" or torch.compiler.is_compiling():
            self._entry = None
            return make()
        key = (parameter._version, parameter.data_ptr(), parameter.dtype, dtype)
        rows = parameter.detach().flatten(1)
        if self._entry is not None:
            old_key, probe, fingerprint, value = self._entry
            if key == old_key and torch.equal(rows @ probe, fingerprint):
                return value
        value, self._entry = make(), None
        if value.data_ptr() != parameter.data_ptr():  # else it is the parameter itself, seen differently
            generator = torch.Generator().manual_seed(0)
            probe = torch.randn(rows.shape[1], generator=generator, dtype=torch.float64).to(parameter.dtype)
            self._entry = key, probe, rows @ probe, value
        return value

    def __reduce__(self) -> tuple[type[FilterCache], tuple[()]]:
        return type(self), ()
