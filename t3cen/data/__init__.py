"""The data sets, each one class in a file of this folder; imported on first use, so that `t3cen.data.shifts` stays light."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from t3cen.registry import Registry

if TYPE_CHECKING:
    from t3cen.data.module import ColorData

DATA_SETS: Registry[type[ColorData]] = Registry("t3cen.data")
"""Every data set, by the name of its class."""


def __getattr__(name: str) -> Any:
    if name == "ColorData":
        from t3cen.data.module import ColorData

        return ColorData
    return DATA_SETS.exported(name)


def __dir__() -> list[str]:
    return sorted(["ColorData", "DATA_SETS", *DATA_SETS])
