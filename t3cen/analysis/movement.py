"""How far the colours of one set of images have moved in another, and what a group leaves of the move."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.analysis.color_statistics import AXES, ColorStatistics
from t3cen.analysis.distance import circle_distance, interval_distance

RANGE = {"hue": 0.5, "saturation": 1.0, "luminance": 1.0}
"""The farthest two values can be apart."""
FAINT = 0.01  # mean chroma below which hue and saturation are not measured: the images are grey


@dataclass(frozen=True)
class Movement:
    """The move along one axis.

    Attributes:
        distance: earth mover's distance between the two distributions, in turns for hue and in units of the value otherwise.
        noise: the same between random halves of the training images; a move must stand out from it.
    """

    axis: str
    distance: float
    noise: float

    @property
    def share(self) -> float:
        """The distance as a share of the largest there can be, in [0, 1]; comparable between axes."""
        return self.distance / RANGE[self.axis]

    def stands_out(self, least: float) -> bool:
        """Whether the move is at least `least` of the range, and three times the noise."""
        return self.share >= least and self.distance > 3 * self.noise


def distance(axis: str, a: Tensor, b: Tensor) -> float:
    """Earth mover's distance of two histograms of an axis; 0 where one of them is empty (a grey set has no hue)."""
    if not (a.sum() > 0 and b.sum() > 0):
        return 0.0
    return circle_distance(a, b) if axis == "hue" else interval_distance(a, b)


def movements(train: ColorStatistics, deployment: ColorStatistics, splits: int = 20, seed: int = 0) -> dict[str, Movement]:
    """The move of each axis between two sets of images.

    Axes that mean nothing in one of the sets, hue and saturation of grey images, count as unmoved.

    Args:
        splits: random halvings that the noise is the mean of.
        seed: of the halvings.
    """
    grey = min(train.chroma, deployment.chroma) < FAINT
    result = {}
    for axis in AXES:
        moved = 0.0 if grey and axis != "luminance" else distance(axis, train.histogram(axis), deployment.histogram(axis))
        result[axis] = Movement(axis, moved, _noise(train, axis, splits, seed))
    return result


def spreads(train: ColorStatistics, seed: int = 0) -> dict[str, Movement]:
    """Where there is no second set: how far single images lie from the whole, as the move a further image may show."""
    grey = train.chroma < FAINT
    result = {}
    for axis in AXES:
        histograms = train.histograms[:, AXES.index(axis)]
        means = train.image_means[:, AXES.index(axis)]
        order = torch.randperm(len(means), generator=torch.Generator().manual_seed(seed))
        usable = order[histograms[order].sum(1) > 0]
        gaps = (means[usable] - means[usable.roll(1)]).abs()
        if axis == "hue":
            gaps = torch.minimum(gaps, 1 - gaps)
        unmoved = len(usable) < 2 or (grey and axis != "luminance")
        result[axis] = Movement(axis, 0.0 if unmoved else gaps.mean().item(), 0.0)
    return result


def left_over(axis: str, order: int, a: Tensor, b: Tensor) -> float:
    """What remains of a move when values a whole number of group steps apart count as equal, in the units of `distance`.

    The histograms are wrapped onto the circle of one step: `1/N` of a turn of hue, or of the triangle cover. What remains
    is between the steps, where no group of this order reaches; it shrinks with the order whatever the data are.

    Args:
        axis: `hue`, `saturation` or `luminance`.
        order: of the group.
        a, b: `(BINS,)` histograms.
    """
    if not (a.sum() > 0 and b.sum() > 0):
        return 0.0
    # An interval is one half of its double cover.
    full = [a, b] if axis == "hue" else [torch.cat([h, torch.zeros_like(h)]) for h in (a, b)]
    positions = len(full[0])
    if positions % order:
        full = [h.repeat_interleave(order) for h in full]
        positions *= order
    first, second = (h.view(order, positions // order).sum(0) for h in full)
    return circle_distance(first, second, length=1 / order) * (1 if axis == "hue" else 2)


def _noise(train: ColorStatistics, axis: str, splits: int, seed: int) -> float:
    histograms = train.histograms[:, AXES.index(axis)]
    if len(histograms) < 2:
        return 0.0
    rng = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(splits):
        order = torch.randperm(len(histograms), generator=rng)
        half = len(order) // 2
        found.append(distance(axis, histograms[order[:half]].sum(0), histograms[order[half:]].sum(0)))
    return sum(found) / len(found)
