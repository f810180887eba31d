"""Double covers: maps of the circle onto the interval [0, 1], each value reached from two angles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cover:
    """A double cover of [0, 1] by the circle, angles in turns.

    Attributes:
        lift: value in [0, 1] -> angle on the principal branch; values a rounding error outside are taken as the end.
        project: angle, any number of turns -> value in [0, 1]. `project(lift(v)) == v`.
        branch: the first and last angle of the principal branch, where the value rises from 0 to 1.
    """

    name: str
    lift: Callable[[Tensor], Tensor]
    project: Callable[[Tensor], Tensor]
    branch: tuple[float, float]


def _distance_from_whole_turn(angle: Tensor) -> Tensor:
    return (angle - torch.round(angle)).abs()


def _arcsin(value: Tensor) -> Tensor:
    """arcsin for values in [-1, 1], with a slope that stays finite at both ends.

    Beyond the last representable number before 1 the slope would be infinite (and 0 * inf = NaN in the chain rule); there
    the value is kept and the gradient is 0.
    """
    last = 1 - torch.finfo(value.dtype).eps
    inside = value.clamp(-last, last)
    ends = (value.detach().clamp(-1, 1) - inside.detach()).sign() * (math.pi / 2 - math.asin(last))
    return torch.arcsin(inside) + ends


def _triangle_lift(value: Tensor) -> Tensor:
    return value.clamp(0, 1) / 2


def _triangle_project(angle: Tensor) -> Tensor:
    return 2 * _distance_from_whole_turn(angle)


def _sine_lift(value: Tensor) -> Tensor:
    return _arcsin(2 * value - 1) / (2 * math.pi)


def _sine_project(angle: Tensor) -> Tensor:
    return (1 + torch.sin(2 * math.pi * angle)) / 2


def _half_sine_lift(value: Tensor) -> Tensor:
    return _arcsin(value.clamp(min=0)) / math.pi


def _half_sine_project(angle: Tensor) -> Tensor:
    return torch.sin(math.pi * _distance_from_whole_turn(angle))


COVERS: dict[str, Cover] = {
    cover.name: cover
    for cover in (
        # Implied by the paper's analyses: only it makes a constant shift of the value one rotation for every pixel.
        Cover("triangle", _triangle_lift, _triangle_project, (0.0, 0.5)),
        # Paper, "Saturation group and group action": c/2 + c/2 sin(theta), principal branch [-pi/2, pi/2].
        Cover("sine", _sine_lift, _sine_project, (-0.25, 0.25)),
        # Paper, appendix "Luminance group and group action": c sin(theta/2), theta in [0, 2 pi), principal branch [0, pi].
        Cover("half_sine", _half_sine_lift, _half_sine_project, (0.0, 0.5)),
    )
}


def get_cover(name: str) -> Cover:
    """The cover called `name`: `"triangle"`, `"sine"` or `"half_sine"`.

    Raises:
        ValueError: there is no such cover.

    Source: paper, "Saturation group and group action" and appendix A.1; `docs/fidelity.md` on why there are three.
    """
    if name not in COVERS:
        raise ValueError(f"unknown cover {name!r}; choose from {', '.join(COVERS)}")
    return COVERS[name]


def get_covers(name: str) -> tuple[Cover, Cover]:
    """The covers of saturation and of luminance: one name for both, or two, `"sine+half_sine"` as the paper prints them.

    Raises:
        ValueError: there is no such cover, or there are more than two names.
    """
    names = name.split("+")
    if len(names) > 2:
        raise ValueError(f"a cover for saturation and one for luminance, such as 'sine+half_sine': 2 names at most, got {name!r}")
    saturation, luminance = get_cover(names[0]), get_cover(names[-1])
    return saturation, luminance
