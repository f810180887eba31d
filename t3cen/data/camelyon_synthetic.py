"""Tissue, drawn: a stand-in for Camelyon17 in which nuclei decide the label and hospitals differ in colour alone.

Normal tissue has many small nuclei, tumour has few large ones: they cover equally much, so no mean colour tells the label.
Nuclei are blue-violet on pink, hardly darker than the tissue: what is seen of them is hue and saturation. Hospitals draw the
same tissue. Each stains more or less saturated, as the paper says of its hospitals, and every patch of one by an amount of
its own; tints differ a little. So the stand-in tests what the paper ascribes its result to, not how large it is on slides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from t3cen.color import hsl_to_rgb
from t3cen.data.smooth_noise import smooth

Array = np.ndarray


class Staining(NamedTuple):
    """How one hospital stains: least and most that a patch's saturation is moved by, and tint, a turn of all hues."""

    weakest: float
    strongest: float
    tint: float


HOSPITALS = (
    Staining(-0.03, 0.03, 0.00),
    Staining(0.50, 0.70, 0.01),
    Staining(0.05, 0.25, -0.01),
    Staining(0.03, 0.09, 0.01),
    Staining(-0.09, -0.03, -0.01),
)
"""By hospital number; 0, 3 and 4 are training hospitals."""
NUCLEI = {0: (32, 44, 0.030, 0.042), 1: (7, 10, 0.062, 0.088)}
"""By label: fewest and most nuclei in a patch, smallest and largest radius as a share of its side."""


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
    weakest, strongest, tint = HOSPITALS[hospital]
    nuclei = _nuclei(rng, label, size)
    tissue = 0.6 * smooth(rng, 4, size) + 0.4 * smooth(rng, 16, size)
    hue = 0.90 - 0.16 * nuclei + rng.uniform(-0.01, 0.01) + tint
    saturation = 0.22 + 0.10 * tissue + 0.14 * nuclei + rng.uniform(weakest, strongest)
    luminance = 0.70 + 0.10 * (tissue - 0.5) - 0.08 * nuclei + rng.uniform(-0.03, 0.03)
    picture = hsl_to_rgb(torch.from_numpy(np.stack([hue % 1, np.clip(saturation, 0, 1), luminance])))
    return (255 * picture).round().to(torch.uint8).numpy(), label
