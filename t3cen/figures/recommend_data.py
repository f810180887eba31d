"""A recommendation for a data set of the project: its training images against one of its shifted test sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from t3cen.analysis.recommendation import Recommendation, recommend
from t3cen.figures.training import data_module

SAME = ("in", "A", "vanilla", "id")
"""Test sets of the training distribution, which no move is expected to."""


def recommend_data(
    name: str,
    split: str | None = None,
    *,
    limit: int = 400,
    scale: str = "laptop",
    data_root: str = "data",
    overrides: Sequence[str] = (),
    **options: Any,
) -> Recommendation:
    """`recommend` for a name of conf/data.

    Args:
        split: the test set that stands for deployment; None is the first that is not of the training distribution.
        limit: images of each, spread evenly.
        scale, data_root, overrides: of the data set, as for training.
        options: of `recommend`.

    Raises:
        ValueError: no such test set.
        DataError: the data set's files are missing.
    """
    splits = data_module(name, scale=scale, data_root=data_root, overrides=overrides).splits
    sets = {**splits.test, **splits.validation}
    if split is None:
        split = next((known for known in splits.test if known not in SAME), next(iter(splits.test)))
    if split not in sets:
        raise ValueError(f"{name} has no test set {split!r}; it has {', '.join(sets)}")
    train, train_labels = _some(splits.train, limit)
    there, there_labels = _some(sets[split], limit)
    return recommend(train, there, labels=train_labels, deployment_labels=there_labels, **options)


def _some(items: Any, limit: int) -> tuple[list[Any], list[int]]:
    count = min(limit, len(items))
    pairs = [items[at * len(items) // count] for at in range(count)]
    return [image for image, _ in pairs], [label for _, label in pairs]
