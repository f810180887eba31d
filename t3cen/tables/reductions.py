"""What a smaller scale changed: the settings in which trained networks differ from their runs at the paper's scale."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.experiments.identity import NEUTRAL
from t3cen.results.cells import Group

UNTOLD = NEUTRAL | {"scale", "source", "seed"}
"""Keys that are no reduction, or that the table tells elsewhere."""


def reductions(groups: Sequence[Group]) -> list[str]:
    """`backbone resnet18 (paper resnet44)`, each once, in the order of the configuration."""
    found: dict[str, None] = {}
    for group in groups:
        if group.first.name in all_runs():
            found |= dict.fromkeys(_differences(group.first.config, compose(all_runs()[group.first.name], "paper")))
    return list(found)


def _differences(ours: Mapping[str, Any], paper: Mapping[str, Any]) -> Iterator[str]:
    flat, published = dict(_flat(ours)), dict(_flat(paper))
    for key in published | flat:
        small, full = flat.get(key), published.get(key)
        if small != full and not UNTOLD & set(key.split(".")):
            yield f"{key} {_told(small)} (paper {_told(full)})"


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _told(value: Any) -> str:
    return "default" if value is None else str(value)
