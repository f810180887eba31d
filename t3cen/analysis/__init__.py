"""What the paper measures about liftings and networks, and the choice of a group from data; imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

MODULES = {
    "ClippedLifting": "analysis.clipped",
    "ColorStatistics": "analysis.color_statistics",
    "Recommendation": "analysis.recommendation",
    "ShiftReport": "analysis.shift_cost",
    "best_orders": "analysis.entropy",
    "circle_distance": "analysis.distance",
    "color_signals": "analysis.color_as_label",
    "commutation_error": "analysis.commutation",
    "distinct_values": "analysis.coverage",
    "entropy_density": "analysis.entropy",
    "equivariance_error": "testing",
    "group_cost": "analysis.cost",
    "interval_distance": "analysis.distance",
    "interval_entropy": "analysis.entropy",
    "lifting_error": "analysis.restoration",
    "most_covered": "analysis.coverage",
    "network_error": "testing",
    "orbit_values": "analysis.coverage",
    "recommend": "analysis.recommendation",
    "recommend_folder": "analysis.folders",
    "redundancy_shares": "analysis.redundancy",
    "redundant_values": "analysis.redundancy",
    "sample_pixels": "analysis.color_statistics",
    "shift_report": "analysis.shift_cost",
    "statements": "analysis.claims",
    "translate": "analysis.commutation",
}
__all__ = tuple(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"t3cen.analysis has no {name!r}; it has {', '.join(sorted(MODULES))}")
    return getattr(importlib.import_module(f"t3cen.{MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(MODULES)
