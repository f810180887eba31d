"""The data sets of the paper, each one class; imported on first use, so that `t3cen.data.shifts` alone stays light."""

from __future__ import annotations

import importlib
from typing import Any

from t3cen.extras import require

MODULES = {
    "ColorData": "module",
    "CIFAR10": "cifar",
    "CIFAR100": "cifar",
    "Camelyon": "camelyon",
    "Caltech101": "caltech101",
    "Cars": "cars",
    "KUTomaData": "kutomadata",
    "MNIST": "mnist",
    "Pets": "pets",
    "STL10": "stl10",
    "Shapes3D": "shapes3d",
    "SmallNORB": "smallnorb",
}
__all__ = tuple(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"t3cen.data has no {name!r}; it has {', '.join(sorted(MODULES))}")
    require("suite")
    return getattr(importlib.import_module(f"t3cen.data.{MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(MODULES)
