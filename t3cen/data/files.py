"""Pictures in files of their own, of any kind Pillow reads, as RGB."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from t3cen.data.errors import DataError, broken, missing


def rgb(image: Image.Image) -> Image.Image:
    """Any Pillow image (grey, palette, with transparency, CMYK) as RGB; transparency is dropped."""
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    return image.convert("RGB")


def decode(file: Any, name: str, path: Path | str) -> Tensor:
    """Read a picture.

    Args:
        file: a path or a binary file object.
        name, path: the data set and the file, for the message of an error.

    Returns:
        uint8 RGB `(3, H, W)`.

    Raises:
        DataError: it is cut short or no picture.
    """
    try:
        with Image.open(file) as image:
            pixels = np.array(rgb(image))
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError) as error:
        raise broken(name, path, f"is no readable picture ({error})") from error
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


class FileSource:
    """Pictures in files, read when asked for.

    Args:
        name: the data set, for messages.
        paths: one file for each picture.
        labels: one whole number for each.
        check: look whether every file exists, at once; without it a missing file is noticed when it is read.

    Raises:
        DataError: a file is missing.
    """

    def __init__(self, name: str, paths: Sequence[Path], labels: Sequence[int], check: bool = True) -> None:
        absent = [path for path in paths if not path.is_file()] if check else []
        if absent:
            what = absent[0].name if len(absent) == 1 else f"{absent[0].name} and {len(absent) - 1} more pictures"
            raise missing(name, what, absent[0])
        self.name = name
        # one array of bytes instead of many objects: forked workers share its memory instead of copying it page by page
        self.paths = np.array([os.fsencode(path) for path in paths])
        self.labels = torch.as_tensor([int(label) for label in labels], dtype=torch.long)

    def __len__(self) -> int:
        return len(self.paths)

    def picture(self, index: int) -> Tensor:
        path = os.fsdecode(bytes(self.paths[index]))
        return decode(path, self.name, path)

    def label(self, index: int) -> int:
        return int(self.labels[index])


def check_classes(name: str, labels: Sequence[int], expected: int, where: Path) -> None:
    """Every class has a picture.

    Raises:
        DataError: a class is missing, or there are more of them.
    """
    found = set(labels)
    foreign, empty = sorted(found - set(range(expected))), sorted(set(range(expected)) - found)
    if foreign:
        raise DataError(f"{name}: {where} has a label {foreign[0]}, only 0 to {expected - 1} are expected")
    if empty:
        raise DataError(f"{name}: {where} has no picture of {len(empty)} of {expected} classes (the first: number {empty[0]})")
