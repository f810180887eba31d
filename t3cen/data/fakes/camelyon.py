"""Fake of Camelyon17-WILDS: its table and folders with drawn patches of all five hospitals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from t3cen.data.camelyon_synthetic import patch


def camelyon(root: Path) -> None:
    """24 patches of each hospital, RGBA as the real ones, four of each training hospital held out."""
    folder = root / "camelyon17_v1.0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "RELEASE_v1.0.txt").touch()
    lines = [",patient,node,x_coord,y_coord,tumor,slide,center,split"]
    for row in range(5 * 24):
        center, number = divmod(row, 24)
        patient, node, x, y = f"{20 * center + 4:03d}", number % 5, 96 * number, 960
        pixels, label = patch(center, number, 96, seed=0)
        place = folder / "patches" / f"patient_{patient}_node_{node}"
        place.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0))).convert("RGBA")
        image.save(place / f"patch_patient_{patient}_node_{node}_x_{x}_y_{y}.png")
        lines.append(f"{row},{patient},{node},{x},{y},{label},{10 * center + number % 10},{center},{int(number >= 20)}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")
