"""Convolutional networks equivariant to hue, saturation and luminance."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from t3cen.conversion import convert
    from t3cen.overview import summary
    from t3cen.training.final import load

__version__ = "0.1.0"
__all__ = ["convert", "load", "summary"]
_HOMES = {"convert": "t3cen.conversion", "load": "t3cen.training.final", "summary": "t3cen.overview"}


def __getattr__(name: str) -> Any:
    """Functions whose rooms are imported when they are first asked for, so that this package is imported in no time."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
