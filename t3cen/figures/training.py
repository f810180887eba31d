"""The project's training configurations and data sets, as figures need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from t3cen.experiments.composition import compose_with

if TYPE_CHECKING:
    from t3cen.data import ColorData

_used: ContextVar[dict[str, Any] | None] = ContextVar("used data sets", default=None)


def data_module(name: str, *, scale: str = "laptop", data_root: str = "data", overrides: Sequence[str] = ()) -> ColorData:
    """A data set by its name in conf/data, without training augmentation or loader processes; made once per process."""
    data = _data_module(name, scale, data_root, tuple(overrides))
    used = _used.get()
    if used is not None:
        used[" ".join([name, *(override.lstrip("+") for override in overrides)])] = data.provenance
    return data


@cache
def _data_module(name: str, scale: str, data_root: str, overrides: tuple[str, ...]) -> ColorData:
    from t3cen.training.run import make_data

    given = [f"data={name}", f"scale={scale}", f"data_root={data_root}", "name=figure", "num_workers=0", "augment=none"]
    return make_data(compose_with([*given, *overrides]))


@contextmanager
def recorded_data() -> Iterator[dict[str, Any]]:
    """A mapping that fills with the provenance of every data set used inside: whether its pictures are files or drawn."""
    used: dict[str, Any] = {}
    token = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(token)
