"""Convolutional networks equivariant to hue, saturation and luminance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from t3cen.conversion import convert
    from t3cen.overview import summary

__version__ = "0.1.0"
__all__ = ["convert", "summary"]


def __getattr__(name: str) -> Any:
    """Functions that are imported when first asked for."""
    if name == "convert":
        from t3cen.conversion import convert

        return convert
    if name == "summary":
        from t3cen.overview import summary

        return summary
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
