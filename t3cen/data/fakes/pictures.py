"""What fake pictures look like."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def picture(rng: np.random.Generator, label: int, height: int, width: int) -> Array:
    """Coloured noise with a bright bar whose place tells the class; uint8 (height, width, 3)."""
    pixels = rng.integers(0, 160, (height, width, 3), dtype=np.uint8)
    row = label * 7 % height
    pixels[row : row + max(1, height // 8)] = 220
    return pixels


def pictures(rng: np.random.Generator, labels: Array, size: int) -> Array:
    """uint8 (N, size, size, 3)."""
    return np.stack([picture(rng, int(label), size, size) for label in labels])
