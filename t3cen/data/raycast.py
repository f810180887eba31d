"""A small analytic ray caster: rays against boxes, ellipsoids, cylinders and capsules, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

Array = np.ndarray
Hit = tuple[Array, Array]
"""Distances `(N,)`, infinite where the ray misses, and outward unit normals `(N, 3)`, arbitrary there."""
FAR = np.inf


class Shape(NamedTuple):
    """A solid at the origin: `intersect(origin, direction) -> Hit`, and the radius of a ball around the origin that holds it."""

    intersect: Callable[[Array, Array], Hit]
    reach: float

    def __call__(self, origin: Array, direction: Array) -> Hit:
        return self.intersect(origin, direction)


def dot(a: Array, b: Array) -> Array:
    """Scalar products along the last axis, of length 2 or 3 (written out: numpy's sum is slow over so few)."""
    product = a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]
    return product + a[..., 2] * b[..., 2] if a.shape[-1] == 3 else product


def unit(vectors: Array) -> Array:
    """The vectors of length 1 in the same directions."""
    return vectors / np.sqrt(dot(vectors, vectors))[..., None]


def _quadratic(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Both roots of a t^2 + 2 b t + c, infinite where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(b * b - a * c)
        near, far = (-b - root) / a, (-b + root) / a
    missed = ~np.isfinite(near) | ~np.isfinite(far)
    return np.where(missed, FAR, near), np.where(missed, FAR, far)


def _first_positive(*distances: Array) -> Array:
    return np.minimum.reduce([np.where(t > 1e-6, t, FAR) for t in distances])


def box(half: Sequence[float]) -> Shape:
    """An axis-aligned box with the given half sides, centred at the origin."""
    sides = np.asarray(half, float)

    def intersect(origin: Array, direction: Array) -> Hit:
        with np.errstate(divide="ignore", invalid="ignore"):
            entries, exits = (-sides * np.sign(direction) - origin) / direction, (sides * np.sign(direction) - origin) / direction
        parallel = direction == 0
        entries[parallel], exits[parallel] = -FAR, FAR
        outside = np.logical_or.reduce(list((parallel & (np.abs(origin) > sides)).T))
        face = np.where(entries[:, 0] >= entries[:, 1], 0, 1)
        face = np.where(entries[:, 2] > entries[np.arange(len(entries)), face], 2, face)
        near, far = np.maximum.reduce(list(entries.T)), np.minimum.reduce(list(exits.T))
        distance = np.where((near <= far) & (near > 1e-6) & ~outside, near, FAR)
        normal = np.zeros_like(direction)
        rows = np.arange(len(direction))
        normal[rows, face] = -np.sign(direction[rows, face])
        return distance, normal

    return Shape(intersect, float(np.linalg.norm(sides)))


def ellipsoid(radii: Sequence[float]) -> Shape:
    """An ellipsoid with the given half axes, centred at the origin."""
    axes = np.asarray(radii, float)

    def intersect(origin: Array, direction: Array) -> Hit:
        o, d = origin / axes, direction / axes
        distance = _first_positive(*_quadratic(dot(d, d), dot(o, d), dot(o, o) - 1))
        point = origin + np.where(np.isfinite(distance), distance, 0)[:, None] * direction
        return distance, unit(point / axes**2 + 1e-12)

    return Shape(intersect, float(axes.max()))


def cylinder(radius: float, height: float) -> Shape:
    """A closed upright cylinder centred at the origin."""

    def intersect(origin: Array, direction: Array) -> Hit:
        o, d = origin[..., :2], direction[:, :2]
        sides = []
        for t in _quadratic(dot(d, d), dot(o, d), dot(o, o) - radius**2):
            z = origin[..., 2] + np.where(np.isfinite(t), t, 0) * direction[:, 2]
            sides.append(np.where(np.abs(z) <= height / 2, t, FAR))
        side = _first_positive(*sides)
        caps = []
        for z in (-height / 2, height / 2):
            with np.errstate(divide="ignore", invalid="ignore"):
                t = (z - origin[..., 2]) / direction[:, 2]
            at = o + np.where(np.isfinite(t), t, 0)[:, None] * d
            caps.append(np.where(np.isfinite(t) & (dot(at, at) <= radius**2), t, FAR))
        cap = _first_positive(*caps)
        distance = np.minimum(side, cap)
        point = origin + np.where(np.isfinite(distance), distance, 0)[:, None] * direction
        flat = np.stack([np.zeros(len(point)), np.zeros(len(point)), np.sign(point[:, 2])], -1)
        upright = unit(point * [1, 1, 0] + 1e-12)
        return distance, np.where((cap < side)[:, None], flat, upright)

    return Shape(intersect, float(np.hypot(radius, height / 2)))


def capsule(radius: float, straight: float) -> Shape:
    """An upright cylinder of height `straight` with a half ball on each end, centred at the origin."""

    def intersect(origin: Array, direction: Array) -> Hit:
        o, d = origin[..., :2], direction[:, :2]
        candidates = []
        for t in _quadratic(dot(d, d), dot(o, d), dot(o, o) - radius**2):
            z = origin[..., 2] + np.where(np.isfinite(t), t, 0) * direction[:, 2]
            candidates.append(np.where(np.abs(z) <= straight / 2, t, FAR))
        for end in (-straight / 2, straight / 2):
            moved = origin - [0, 0, end]
            for t in _quadratic(dot(direction, direction), dot(moved, direction), dot(moved, moved) - radius**2):
                z = moved[..., 2] + np.where(np.isfinite(t), t, 0) * direction[:, 2]
                candidates.append(np.where(z * np.sign(end) >= 0, t, FAR))
        distance = _first_positive(*candidates)
        point = origin + np.where(np.isfinite(distance), distance, 0)[:, None] * direction
        core = np.clip(point[:, 2], -straight / 2, straight / 2)
        return distance, unit(point - np.stack([0 * core, 0 * core, core], -1) + 1e-12)

    return Shape(intersect, radius + straight / 2)


@dataclass(frozen=True)
class Solid:
    """A shape somewhere in the scene: `shape` is one of the functions above, turned by `turn` and moved to `centre`."""

    shape: Shape
    centre: Sequence[float] = (0.0, 0.0, 0.0)
    turn: Array = field(default_factory=lambda: np.eye(3))
    grey: float = 1.0

    def intersect(self, origin: Array, direction: Array) -> Hit:
        """As `Shape`; `origin` is `(3,)` or `(N, 3)`, `direction` `(N, 3)` of unit vectors."""
        distance, normal = np.full(len(direction), FAR), np.zeros_like(direction)
        to_centre = np.asarray(self.centre, float) - origin
        # by Pythagoras, how far a ray passes from the centre; most pass too far away to meet the solid
        along = direction @ to_centre if to_centre.ndim == 1 else dot(direction, to_centre)
        near = np.flatnonzero(dot(to_centre, to_centre) - along**2 < self.shape.reach**2 * (1 + 1e-9))
        start = -(to_centre[near] if to_centre.ndim > 1 else to_centre)
        found, facing = self.shape.intersect(start @ self.turn, direction[near] @ self.turn)
        distance[near], normal[near] = found, facing @ self.turn.T
        return distance, normal


def nearest(solids: Sequence[Solid], origin: Array, direction: Array) -> tuple[Array, Array, Array]:
    """The first solid each ray meets; 0 where it meets none.

    Args:
        origin: `(3,)` or `(N, 3)`; direction: `(N, 3)`, unit vectors.

    Returns:
        distances `(N,)`, infinite where none is met; normals `(N, 3)`; the index of the solid `(N,)`.
    """
    best, facing = np.full(len(direction), FAR), np.zeros_like(direction)
    which = np.zeros(len(direction), int)
    for number, solid in enumerate(solids):
        distance, normal = solid.intersect(origin, direction)
        nearer = np.flatnonzero(distance < best)
        best[nearer], facing[nearer], which[nearer] = distance[nearer], normal[nearer], number
    return best, facing, which


def rotation(axis: int, degrees: float) -> Array:
    """Rotation matrix about the x (0), y (1) or z (2) axis."""
    a, b = [i for i in range(3) if i != axis] if axis != 1 else (2, 0)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.eye(3)
    turn[a, a] = turn[b, b] = c
    turn[a, b], turn[b, a] = -s, s
    return turn


def camera_rays(position: Array | Sequence[float], target: Sequence[float], half_width: float, size: int) -> Array:
    """Unit directions of the rays through the centres of `size` x `size` pixels, row by row from the top left.

    Args:
        half_width: tangent of half the field of view.

    Returns:
        `(size * size, 3)`.
    """
    forward = unit(np.asarray(target, float) - np.asarray(position, float))
    right = unit(np.cross(forward, [0.0, 0.0, 1.0]))
    up = np.cross(right, forward)
    at = ((np.arange(size) + 0.5) / size * 2 - 1) * half_width
    x, y = np.meshgrid(at, -at)
    return unit(forward + x.reshape(-1, 1) * right + y.reshape(-1, 1) * up)
