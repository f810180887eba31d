"""Angles, always counted in turns of a circle."""

from __future__ import annotations

import torch
from torch import Tensor


def wrap(angle: Tensor) -> Tensor:
    """The same angle in [0, 1) turns, strictly below 1; its derivative is 1.

    In floating point a tiny negative angle plus one turn rounds to exactly 1.0; that angle is 0.
    """
    angle = angle - torch.floor(angle)
    return torch.where(angle >= 1, angle - 1, angle)


def circle_distance(a: Tensor, b: Tensor) -> Tensor:
    """Length of the shorter arc between two angles, in turns, in [0, 0.5]."""
    difference = a - b
    return (difference - torch.round(difference)).abs()
