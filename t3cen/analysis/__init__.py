"""What the paper measures about liftings and networks, and the choice of a group from data; imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

MODULES = {
    "best_orders": "entropy",
    "entropy_density": "entropy",
    "interval_entropy": "entropy",
    "most_covered": "coverage",
    "orbit_values": "coverage",
    "distinct_values": "coverage",
    "redundant_values": "redundancy",
    "redundancy_shares": "redundancy",
}
__all__ = tuple(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"t3cen.analysis has no {name!r}; it has {', '.join(sorted(MODULES))}")
    return getattr(importlib.import_module(f"t3cen.analysis.{MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(MODULES)
