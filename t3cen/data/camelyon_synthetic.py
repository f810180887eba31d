"""Stained tissue, drawn: a stand-in for Camelyon17 in which hospitals stain differently and nuclei decide the label.

A patch is light that went through two dyes (Beer-Lambert law): intensity = white * exp(-(h * H + e * E)), with H and E the
absorbances of haematoxylin and eosin for red, green and blue (Ruifrok and Johnston, 2001), h the dye in the nuclei and e the
dye in the tissue between them. Hospitals differ in how strongly they stain, in the tint of their dyes, in their white and in
the stray light of their scanners, so that saturation is distributed differently in each, as in the data set. Tumour patches
have more and larger nuclei; staining says nothing about the label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
HAEMATOXYLIN, EOSIN = np.array([0.65, 0.70, 0.29]), np.array([0.07, 0.99, 0.11])


class Staining(NamedTuple):
    """How one hospital stains: strength of both dyes, tint (a rotation of the absorbances, in radians), white, stray light."""

    haematoxylin: float
    eosin: float
    tint: float
    white: tuple[float, float, float]
    stray: float


HOSPITALS = (
    Staining(1.00, 0.60, 0.00, (0.97, 0.95, 0.96), 0.08),
    Staining(0.60, 0.25, 0.06, (0.93, 0.93, 0.96), 0.30),
    Staining(1.60, 1.10, -0.05, (0.98, 0.95, 0.95), 0.00),
    Staining(1.25, 0.75, 0.04, (0.95, 0.93, 0.97), 0.18),
    Staining(0.85, 0.50, -0.04, (0.98, 0.97, 0.95), 0.02),
)
"""By hospital number; 0, 3 and 4 are training hospitals."""
NUCLEI = {0: (14, 24, 0.030, 0.045), 1: (30, 48, 0.042, 0.065)}
"""By label: fewest and most nuclei in a patch, smallest and largest radius as a share of its side."""


def _smooth(rng: np.random.Generator, cells: int, size: int) -> Array:
    """Smooth noise in [0, 1], (size, size): random values on a coarse grid, interpolated bilinearly."""
    grid = rng.uniform(size=(cells + 1, cells + 1))
    at = np.linspace(0, cells, size, endpoint=False)
    low, share = at.astype(int), at % 1
    rows = grid[low] * (1 - share)[:, None] + grid[low + 1] * share[:, None]
    return rows[:, low] * (1 - share) + rows[:, low + 1] * share


def _nuclei(rng: np.random.Generator, label: int, size: int) -> Array:
    """How much of a nucleus each pixel holds, in [0, 1], (size, size)."""
    fewest, most, smallest, largest = NUCLEI[label]
    count = rng.integers(fewest, most + 1)
    x, y = rng.uniform(-0.05, 1.05, (2, count, 1, 1))
    a, b = rng.uniform(smallest, largest, (2, count, 1, 1))
    turn, dark = rng.uniform(0, np.pi, (count, 1, 1)), rng.uniform(0.7, 1.0, (count, 1, 1))
    at = (np.arange(size) + 0.5) / size
    dx, dy = at[None, None, :] - x, at[None, :, None] - y
    along, across = dx * np.cos(turn) + dy * np.sin(turn), -dx * np.sin(turn) + dy * np.cos(turn)
    distance = np.sqrt((along / a) ** 2 + (across / b) ** 2)
    return (dark * np.clip((1.15 - distance) / 0.3, 0, 1)).max(0)


def patch(hospital: int, index: int, size: int, seed: int) -> tuple[Array, int]:
    """One patch and its label, the same for the same numbers.

    Returns:
        uint8 (3, size, size), and 0 for normal or 1 for tumour tissue (odd indices).
    """
    rng = np.random.default_rng([seed, hospital, index])
    label = index % 2
    style = HOSPITALS[hospital]
    nuclei = _nuclei(rng, label, size)
    tissue = 0.35 + 0.65 * (0.6 * _smooth(rng, 4, size) + 0.4 * _smooth(rng, 16, size))
    haematoxylin = (
        style.haematoxylin * rng.uniform(0.85, 1.15) * (0.12 * tissue + 1.1 * nuclei * (0.8 + 0.2 * _smooth(rng, 24, size)))
    )
    eosin = style.eosin * rng.uniform(0.85, 1.15) * tissue * (1 - 0.6 * nuclei)
    turn = np.array([[np.cos(style.tint), -np.sin(style.tint)], [np.sin(style.tint), np.cos(style.tint)]])
    dyes = turn @ np.stack([HAEMATOXYLIN, EOSIN])
    absorbed = np.clip(dyes.T, 0, None) @ np.stack([haematoxylin, eosin]).reshape(2, -1)
    light = np.array(style.white)[:, None] * np.exp(-absorbed)
    light = (1 - style.stray) * light + style.stray * 0.8  # grey light that never went through the tissue
    return np.round(255 * np.clip(light, 0, 1)).astype(np.uint8).reshape(3, size, size), label
