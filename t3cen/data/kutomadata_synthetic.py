"""Tomatoes, drawn: a stand-in for KUTomaData in which the hue of the fruit is the label, and nothing else is.

A fruit lies before grey ground, in any place, size, light and shade. Ripe ones are red, unripe ones green; both spread, and
touch where fruit turns. Ground without a hue leaves nothing that the fruit's hue could be told by: what is invariant to hue
can only guess, and what is invariant to its quarter turns has to tell red from green by what is left between the turns.
"""

from __future__ import annotations

import numpy as np

from t3cen.data.smooth_noise import smooth

Array = np.ndarray
HUES = {0: (-0.05, 0.12), 1: (0.12, 0.35)}
"""In turns, by label: ripe from crimson to orange, unripe from yellow to green."""


def tomato(label: int, index: int, size: int, seed: int) -> Array:
    """One picture, uint8 (3, size, size), the same for the same numbers; label 0 is ripe, 1 unripe."""
    rng = np.random.default_rng([seed, label, index])
    hue, light = rng.uniform(*HUES[label]), rng.uniform(0.6, 1.0)
    radius, (x, y) = rng.uniform(0.22, 0.4), rng.uniform(0.35, 0.65, 2)
    at = (np.arange(size) + 0.5) / size
    dx, dy = (at[None, :] - x) / radius, (at[:, None] - y) / (radius * rng.uniform(0.8, 1.0))
    inside = np.clip((1 - np.hypot(dx, dy)) * radius * size, 0, 1)
    shade = 0.55 + 0.45 * np.clip(1 - np.hypot(dx + 0.4, dy + 0.4) / 2, 0, 1)
    glint = np.clip(1 - np.hypot(dx + 0.4, dy + 0.4) / 0.25, 0, 1)
    fruit = _rgb(hue) * shade * light
    fruit = fruit + (1 - fruit) * 0.8 * glint
    ground = rng.uniform(0.2, 0.8) + 0.3 * (smooth(rng, 4, size) - 0.5) + 0.2 * (smooth(rng, 16, size) - 0.5)
    picture = inside * fruit + (1 - inside) * ground
    return np.round(255 * np.clip(picture, 0, 1)).astype(np.uint8)


def _rgb(hue: float) -> Array:
    """A saturated colour of this hue, in turns: (3, 1, 1)."""
    return np.clip(np.abs((hue + np.array([0, 2, 1]) / 3) % 1 * 6 - 3) - 1, 0.12, 0.92)[:, None, None]
