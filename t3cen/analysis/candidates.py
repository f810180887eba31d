"""One candidate group, looked at on given pixels: what it reaches, what it cannot, what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from t3cen.analysis.color_statistics import AXES, ColorStatistics
from t3cen.analysis.cost import GroupCost, group_cost
from t3cen.analysis.entropy import entropy_density
from t3cen.analysis.movement import Movement, left_over
from t3cen.analysis.redundancy import near, redundant_values
from t3cen.groups import ColorGroup
from t3cen.nn.liftings.hsl import HSLLifting

GROUPS = ("h3", "h4", "h6", "h8", "s3", "s4", "s8", "l3", "l4", "l8", "l16", "h4s4", "h4l4", "s4l4", "h4s4l4")

FEW = 64  # pixels of each image that every element of every group is tried on


@dataclass(frozen=True)
class Candidate:
    """A group on a set of images.

    Attributes:
        name: as in the paper's tables.
        left_over: share in [0, 1] of the move, summed over axes, that lies between the group's steps or on axes it has not.
        sheet_changes: share of pixels in [0, 1] that an image sends to another sheet, mean over the group's elements.
        undefined_hue: share of pixels in [0, 1] without a hue after the action, mean over the elements.
        redundant: share of pixels in [0, 1] within half an 8-bit level of a value whose orbit repeats.
        entropy_density: mean entropy per element over the pixels, in nats; None for hue, whose orbits are all alike.
        cost: against the plain network of as many parameters.
    """

    name: str
    left_over: float
    sheet_changes: float
    undefined_hue: float
    redundant: float
    entropy_density: float | None
    cost: GroupCost

    @property
    def group(self) -> ColorGroup:
        return ColorGroup.parse(self.name)


def examine(
    name: str, train: ColorStatistics, deployment: ColorStatistics | None, moves: dict[str, Movement], cover: str = "triangle"
) -> Candidate:
    """Look at one group on the pixels of the training images."""
    group = ColorGroup.parse(name)
    lifting = HSLLifting(group, cover)
    angles = lifting.encode(train.pixels[..., :FEW])
    elements = list(group.elements())
    values = dict(zip(AXES[1:], train.hsl[:, 1:].unbind(1), strict=True))
    covered = {axis: order for axis, order in zip(AXES, group.orders, strict=True) if order > 1 and axis != "hue"}
    return Candidate(
        name=name,
        left_over=_left_over(group, train, deployment, moves),
        sheet_changes=sum(lifting.sheet_changes(angles, e) for e in elements) / len(elements),
        undefined_hue=sum(lifting.hue_losses(angles, e) for e in elements) / len(elements),
        redundant=_redundant(values, covered, cover),
        entropy_density=_density(values, covered, cover),
        cost=group_cost(group),
    )


def _left_over(
    group: ColorGroup, train: ColorStatistics, deployment: ColorStatistics | None, moves: dict[str, Movement]
) -> float:
    total = sum(move.share for move in moves.values())
    if total == 0:
        return 1.0
    remaining = 0.0
    for axis, order in zip(AXES, group.orders, strict=True):
        move = moves[axis]
        if deployment is None or order == 1 or move.distance == 0:
            # Without a second set a move has a size but no direction: what an axis of the group reaches is not known.
            remaining += move.share if order == 1 else 0.0
            continue
        rest = left_over(axis, order, train.histogram(axis), deployment.histogram(axis))
        remaining += move.share * min(1.0, rest / move.distance)
    return remaining / total


def _redundant(values: dict[str, Tensor], covered: dict[str, int], cover: str) -> float:
    hit = torch.zeros_like(next(iter(values.values())), dtype=torch.bool)
    for axis, order in covered.items():
        hit |= near(values[axis], redundant_values(order, cover).tolist())
    return hit.double().mean().item()


def _density(values: dict[str, Tensor], covered: dict[str, int], cover: str) -> float | None:
    if not covered:
        return None
    found = []
    for axis, order in covered.items():
        # 8-bit accuracy is plenty, and a table of 256 values is quicker than every pixel's own orbit.
        table = entropy_density(torch.linspace(0, 1, 256, dtype=torch.float64), [order], cover)[0]
        found.append(table[(values[axis] * 255).round().long()].mean().item())
    return sum(found) / len(found)
