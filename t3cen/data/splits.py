"""The sets of a data set, and what tells them apart from others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
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


def fingerprint(sets: Iterable[Any], pictures: int = 64) -> str:
    """16 hex digits that tell apart other pictures, labels or splits.

    Every label and every index counts, and all that a source says is `stored` of the pictures of a set: arrays whole, sizes of
    files. Beside that, `pictures` of them are read, evenly spaced.
    """
    digest, known = hashlib.sha256(), dict[tuple[int, bytes], bytes]()
    for items in sets:
        indices = items.indices.to(torch.int64)
        key = id(items.source), indices.numpy().tobytes()
        if key not in known:  # several test sets show the same pictures
            known[key] = _content(items.source, indices, pictures)
        digest.update(known[key])
    return digest.hexdigest()[:16]


def _content(source: Any, indices: Tensor, pictures: int) -> bytes:
    digest = hashlib.sha256(indices.numpy().tobytes())
    labels = getattr(source, "labels", None)
    told = torch.tensor([source.label(i) for i in indices.tolist()]) if labels is None else labels[indices]
    digest.update(told.to(torch.int64).numpy().tobytes())
    for content in source.stored(indices) if hasattr(source, "stored") else ():
        digest.update(content)
    for index in indices[torch.linspace(0, len(indices) - 1, pictures).long()].tolist():
        digest.update(source.picture(index).numpy().tobytes())
    return digest.digest()
