"""Tiny stand-ins in the real on-disk format of every data set, made by code: to try the plumbing, and for tests.

Every data set's file says how its own are written. Pictures are coloured noise with a bar that tells the class. A root with
fakes holds a file FAKE, which turns published checksums off and marks every result. What it does not turn off: pickles may
build nothing but arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

from t3cen.data.files import visible
from t3cen.data.preparation import recipes

Array = np.ndarray
FAKE_MARK = "FAKE"
"""A file of this name in a data root says that all in it was made here."""
MODES = ("RGB", "L", "P", "RGBA", "CMYK")
"""All that are found in the real sets of photographs."""


def write_fakes(root: Path, names: Iterable[str] | None = None) -> None:
    """Write fakes of the named data sets, or of all, into `root`.

    Raises:
        ValueError: a name is unknown, or `root` has real data in it (anything but fakes).
    """
    known = recipes()
    names = list(known if names is None else names)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no fake of {', '.join(unknown)}; there are {', '.join(known)}")
    if root.exists() and any(visible(root)) and not (root / FAKE_MARK).exists():
        raise ValueError(f"{root} is not empty and holds no fakes; choose a new folder, so that real data and fakes never mix")
    root.mkdir(parents=True, exist_ok=True)
    (root / FAKE_MARK).write_text(
        "Everything in this folder was made by `scripts/prepare_data.py --fake`; results on it mean nothing.\n"
    )
    for name in names:
        _, recipe = known[name]
        recipe.fake(root)


def picture(rng: np.random.Generator, label: int, height: int, width: int) -> Array:
    """Coloured noise with a bright bar whose place tells the class; uint8 (height, width, 3)."""
    pixels = rng.integers(0, 160, (height, width, 3), dtype=np.uint8)
    row = label * 7 % height
    pixels[row : row + max(1, height // 8)] = 220
    return pixels


def pictures(rng: np.random.Generator, labels: Array, size: int) -> Array:
    """uint8 (N, size, size, 3)."""
    return np.stack([picture(rng, int(label), size, size) for label in labels])


def photo(path: Path, rng: np.random.Generator, label: int, mode: str = "RGB") -> None:
    """A small picture of odd proportions. Palette and transparent ones are PNGs, whatever their name, as in the real sets."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = (int(side) for side in rng.integers(40, 72, 2))
    image = Image.fromarray(picture(rng, label, height, width)).convert(mode)
    image.save(path, format="PNG" if mode in ("P", "RGBA") else "JPEG")
