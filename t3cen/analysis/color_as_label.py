"""Is colour the signal? How well the colour statistics of an image alone tell its class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.analysis.color_statistics import AXES, ColorStatistics

FOLDS = 5
TREES = 25


@dataclass(frozen=True)
class Signal:
    """How much one axis of colour says about the class.

    Attributes:
        accuracy: cross-validated accuracy of a random forest that sees nothing but statistics of this axis, in [0, 1].
        chance: accuracy of always naming the most frequent class.
        information: mutual information of the class and the image's mean value (in 8 bins), adjusted for chance, as a share of
            the smaller of the two entropies.
        transfer: accuracy on the labelled deployment images of the forest trained on the training images, or None.
    """

    axis: str
    accuracy: float
    chance: float
    information: float
    transfer: float | None = None

    @property
    def strength(self) -> float:
        """Accuracy above chance, as a share of all there is above chance: 0 nothing, 1 the class is the colour."""
        return max(0.0, (self.accuracy - self.chance) / (1 - self.chance))

    @property
    def transferred_strength(self) -> float | None:
        """The same on the deployment images: a colour rule that does not transfer is no signal but a trap."""
        return None if self.transfer is None else max(0.0, (self.transfer - self.chance) / (1 - self.chance))


def features(statistics: ColorStatistics, axis: str) -> Tensor:
    """`(N, F)`: what the images' distributions of one axis look like: circular moments of hue, quantiles of the others."""
    at = AXES.index(axis)
    values, weights = statistics.hsl[:, at].double(), statistics.weights[:, at].double()
    if axis == "hue":
        total = weights.sum(1).clamp(min=1e-9)
        parts = [(weights * f(2 * math.pi * k * values)).sum(1) / total for k in (1, 2, 3) for f in (torch.cos, torch.sin)]
        return torch.stack(parts, 1)
    levels = torch.tensor([0.1, 0.25, 0.5, 0.75, 0.9], dtype=torch.float64)
    return torch.cat([statistics.image_means[:, at : at + 1].double(), values.quantile(levels, dim=1).T], 1)


def color_signals(
    train: ColorStatistics,
    labels: Sequence[int],
    deployment: ColorStatistics | None = None,
    deployment_labels: Sequence[int] | None = None,
) -> dict[str, Signal] | None:
    """How well each axis of colour predicts the class.

    Args:
        train: statistics of the training images.
        labels: one class per image.
        deployment, deployment_labels: if given, whether the rule found on the training images holds there.

    Returns:
        one `Signal` per axis; None where there is one class only, or fewer than five images of each class to cross-validate.

    Raises:
        ValueError: not one label per image.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    target = torch.as_tensor(labels)
    if len(target) != len(train.pixels):
        raise ValueError(f"{len(target)} labels for {len(train.pixels)} images")
    counts = torch.unique(target, return_counts=True)[1]
    if len(counts) < 2 or int(counts.min()) < FOLDS:
        return None
    signals = {}
    for axis in AXES:
        seen = features(train, axis).numpy()
        forest = RandomForestClassifier(TREES, max_depth=8, min_samples_leaf=2, random_state=0)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        accuracy = float(cross_val_score(forest, seen, target.numpy(), cv=folds).mean())
        transfer = None
        if deployment is not None and deployment_labels is not None:
            forest.fit(seen, target.numpy())
            transfer = float(forest.score(features(deployment, axis).numpy(), torch.as_tensor(deployment_labels).numpy()))
        information = _information(target, train.image_means[:, AXES.index(axis)])
        signals[axis] = Signal(axis, accuracy, counts.max().item() / len(target), information, transfer)
    return signals


def _information(labels: Tensor, values: Tensor, bins: int = 8) -> float:
    """Mutual information of class and binned value over the class entropy, less what chance alone gives; in [0, 1]."""
    from sklearn.metrics import adjusted_mutual_info_score

    score = adjusted_mutual_info_score(labels.numpy(), (values * bins).long().clamp(0, bins - 1).numpy(), average_method="min")
    return max(0.0, float(score))
