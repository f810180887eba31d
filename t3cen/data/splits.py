"""The sets of a data set, and what tells them apart from others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils.data import Dataset


@dataclass(frozen=True)
class Splits:
    """The sets of a data set: one to train on, and validation and test sets by name, in the order of their names."""

    train: Dataset[Any]
    validation: Mapping[str, Dataset[Any]]
    test: Mapping[str, Dataset[Any]]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def sets(self) -> dict[str, Any]:
        """All sets by name, tests as `test/<name>`."""
        return {"train": self.train, **self.validation, **{f"test/{name}": items for name, items in self.test.items()}}

    def sources(self) -> list[Any]:
        """Where the pictures of all sets come from, each once."""
        return list({id(items.source): items.source for items in self.sets().values()}.values())


def fingerprint(sets: Iterable[Any], pictures: int = 16) -> str:
    """16 hex digits that tell apart other pictures, labels or splits: of evenly spaced stored pictures of each set."""
    digest = hashlib.sha256()
    for items in sets:
        picked = items.indices[torch.linspace(0, len(items.indices) - 1, pictures).long()].tolist()
        digest.update(repr([len(items.indices), picked, [items.source.label(i) for i in picked]]).encode())
        for index in picked:
            digest.update(items.source.picture(index).numpy().tobytes())
    return digest.hexdigest()[:16]
