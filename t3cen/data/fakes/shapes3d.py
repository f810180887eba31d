"""Fake of 3D Shapes: a file of full shape in which the images that small runs use are drawn and all others black."""

from __future__ import annotations

from pathlib import Path

import torch

from t3cen.data.shapes3d import Shapes3D
from t3cen.data.shapes3d_files import FILE, write


def shapes3d(root: Path) -> None:
    """`3dshapes.h5`, 480,000 images, of which 64 training and 16 validation and test images each are drawn."""
    used = Shapes3D(source="rendered", train_size=64, test_size=16).rows()
    write(root / FILE, torch.cat(list(used.values())).tolist())
