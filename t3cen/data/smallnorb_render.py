"""Toys under six lights: a drawn stand-in for small NORB with its factors (category, instance, elevation, azimuth, lighting).

Five categories of toys made of balls, boxes, capsules and cylinders; every instance has proportions of its own. It is not a copy
of the photographed toys: it lets the experiment on luminance run without files.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from t3cen.data.raycast import Array, Solid, box, camera_rays, capsule, cylinder, ellipsoid, nearest, rotation, unit

CATEGORIES = ("animal", "human", "plane", "truck", "car")
TRAIN_INSTANCES, TEST_INSTANCES = (4, 6, 7, 8, 9), (0, 1, 2, 3, 5)
ELEVATIONS, AZIMUTHS = (30, 50, 70), tuple(range(0, 360, 40))
LIGHTINGS = (
    # ambient, direct, direction of the light: two dim, two medium, two bright conditions
    (0.14, 0.34, (-1.0, -0.6, 1.5)),
    (0.18, 0.40, (0.8, -1.0, 1.2)),
    (0.28, 0.58, (-1.0, -0.6, 1.5)),
    (0.32, 0.62, (0.8, -1.0, 1.2)),
    (0.48, 0.86, (-1.0, -0.6, 1.5)),
    (0.54, 0.92, (0.8, -1.0, 1.2)),
)
GROUND = 0.75
DISTANCE, HALF_VIEW, MIDDLE = 5.0, 0.27, (0.0, 0.0, 0.45)
RAYS = 96
"""Rays along a side of a picture, where it has no more pixels than that."""

Size = Callable[[float, float], float]


def _wheels(xs: Sequence[float], y: float, radius: float) -> list[Solid]:
    on_side = rotation(0, 90)
    return [Solid(cylinder(radius, 0.16), (x, side * y, radius), on_side, grey=0.25) for x in xs for side in (-1, 1)]


def animal(size: Size) -> list[Solid]:
    length, height, leg = size(0.55, 0.8), size(0.22, 0.32), size(0.25, 0.5)
    body, middle = size(0.5, 0.9), leg + height
    legs = [
        Solid(capsule(0.08, leg), (x * length * 0.7, y * height * 0.6, leg / 2 + 0.08), grey=body)
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    head = size(0.17, 0.26)
    return [
        Solid(ellipsoid([length, height * 0.85, height]), (0, 0, middle), grey=body),
        Solid(ellipsoid([head * 1.4, head, head]), (length + head * 0.5, 0, middle + size(0.1, 0.4)), grey=body),
        Solid(capsule(0.05, size(0.2, 0.45)), (-length, 0, middle), rotation(1, size(-60, 60)), grey=body),
        *legs,
    ]


def human(size: Size) -> list[Solid]:
    leg, torso, spread = size(0.45, 0.6), size(0.35, 0.5), size(8, 30)
    clothes, skin = size(0.4, 0.8), size(0.6, 0.95)
    shoulder, radius = leg + 0.16 + torso, size(0.17, 0.24)
    arms = [
        Solid(capsule(0.07, torso), (0, s * (radius + 0.12), shoulder - torso / 2), rotation(0, s * spread), grey=skin)
        for s in (-1, 1)
    ]
    legs = [Solid(capsule(0.1, leg), (0, s * 0.13, leg / 2 + 0.1), rotation(0, s * spread / 3), grey=clothes) for s in (-1, 1)]
    return [
        Solid(capsule(radius, torso), (0, 0, leg + 0.16 + torso / 2), grey=clothes),
        Solid(ellipsoid([0.17, 0.15, 0.2]), (0, 0, shoulder + 0.42), grey=skin),
        *arms,
        *legs,
    ]


def plane(size: Size) -> list[Solid]:
    length, span, body = size(0.85, 1.1), size(0.8, 1.15), size(0.13, 0.2)
    grey, height, sweep = size(0.5, 0.95), 0.45, size(-0.15, 0.25)
    wings = [
        Solid(box([size(0.15, 0.26), span / 2, 0.03]), (sweep, s * span / 2, height), rotation(2, s * size(0, 25)), grey=grey)
        for s in (-1, 1)
    ]
    return [
        Solid(ellipsoid([length, body, body]), (0, 0, height), grey=grey),
        Solid(box([0.12, 0.35, 0.025]), (-length * 0.85, 0, height + 0.05), grey=grey),
        Solid(box([0.14, 0.025, 0.2]), (-length * 0.85, 0, height + 0.2), grey=grey * 0.8),
        *wings,
    ]


def truck(size: Size) -> list[Solid]:
    cargo, cab, width = size(0.5, 0.75), size(0.2, 0.28), size(0.28, 0.36)
    tall, wheel = size(0.3, 0.48), size(0.13, 0.18)
    return [
        Solid(box([cargo, width, tall]), (-cab, 0, wheel + tall), grey=size(0.5, 0.95)),
        Solid(box([cab, width * 0.95, tall * size(0.6, 0.8)]), (cargo + 0.08, 0, wheel + tall * 0.7), grey=size(0.35, 0.8)),
        *_wheels((-cargo, -cargo * 0.5, cargo), width, wheel),
    ]


def car(size: Size) -> list[Solid]:
    length, width, low, wheel = size(0.65, 0.85), size(0.3, 0.38), size(0.14, 0.19), size(0.14, 0.18)
    grey = size(0.45, 0.95)
    return [
        Solid(box([length, width, low]), (0, 0, wheel + low), grey=grey),
        Solid(ellipsoid([length * 0.6, width * 0.9, size(0.28, 0.38)]), (size(-0.2, 0.05), 0, wheel + 2 * low), grey=grey * 0.7),
        *_wheels((-length * 0.6, length * 0.6), width, wheel),
    ]


TOYS = (animal, human, plane, truck, car)


def toy(category: int, instance: int) -> list[Solid]:
    """The solids of one toy, standing around the origin; the same for the same numbers."""
    rng = np.random.default_rng([category, instance])
    return TOYS[category](lambda low, high: float(rng.uniform(low, high)))


def photograph(category: int, instance: int, size: int) -> Array:
    """One toy from every side under every light.

    Returns:
        uint8 (elevations * azimuths * lightings, size, size) grey, in this order, the last fastest.
    """
    solids = toy(category, instance)
    greys = np.array([solid.grey for solid in solids])
    samples = max(1, RAYS // size)
    shots = []
    for elevation, azimuth in itertools.product(np.radians(ELEVATIONS), np.radians(AZIMUTHS)):
        level = np.cos(elevation)
        eye = DISTANCE * np.array([np.cos(azimuth) * level, np.sin(azimuth) * level, np.sin(elevation)]) + MIDDLE
        distance, normal, which = nearest(solids, eye, camera_rays(eye, MIDDLE, HALF_VIEW, size * samples))
        seen = np.isfinite(distance)
        grey = np.where(seen, greys[which], GROUND)
        for ambient, direct, source in LIGHTINGS:
            towards = unit(np.array(source))
            light = grey * (ambient + direct * np.clip(np.where(seen, normal @ towards, towards[2]), 0, None))
            square = np.minimum(light, 1).reshape(size, samples, size, samples).mean((1, 3))
            shots.append(np.round(square * 255).astype(np.uint8))
    return np.stack(shots)


@lru_cache(maxsize=4)
def toys(instances: tuple[int, ...], size: int) -> tuple[Array, Array]:
    """All pictures of some instances.

    Returns:
        uint8 (N, size, size), and int (N, 2): category and lighting.
    """
    pictures, factors = [], []
    for category in range(len(CATEGORIES)):
        for instance in instances:
            shots = photograph(category, instance, size)
            pictures.append(shots)
            lighting = np.arange(len(shots)) % len(LIGHTINGS)
            factors.append(np.stack([np.full(len(shots), category), lighting], 1))
    return np.concatenate(pictures), np.concatenate(factors)
