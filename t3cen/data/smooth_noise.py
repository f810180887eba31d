"""Smooth noise, of which drawn pictures have their uneven light and texture."""

from __future__ import annotations

import numpy as np


def smooth(rng: np.random.Generator, cells: int, size: int) -> np.ndarray:
    """Noise in [0, 1], (size, size): random values on a coarse grid of `cells` a side, interpolated bilinearly."""
    grid = rng.uniform(size=(cells + 1, cells + 1))
    at = np.linspace(0, cells, size, endpoint=False)
    low, share = at.astype(int), at % 1
    rows = grid[low] * (1 - share)[:, None] + grid[low + 1] * share[:, None]
    return rows[:, low] * (1 - share) + rows[:, low + 1] * share
