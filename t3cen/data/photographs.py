"""A person's own pictures: found, read as viewers show them, and seen by a network as in training."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from t3cen.data.errors import DataError, advice
from t3cen.data.files import FileSource, open_rgb
from t3cen.data.items import TestItems, View
from t3cen.data.transforms import ResizeCenter


@cache
def suffixes() -> frozenset[str]:
    """The ends of names, in lower case, of the files that Pillow reads: `.jpg`, `.png`, `.tif` and dozens more."""
    return frozenset(suffix for suffix, form in Image.registered_extensions().items() if form in Image.OPEN)


def pictures_below(folder: Path) -> list[Path]:
    """Every file below a folder whose name ends as those that Pillow reads, in order of path, without hidden ones."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in suffixes()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def read_picture(path: Path | str) -> Tensor:
    """A picture as viewers show it, turned by its EXIF orientation: uint8 RGB `(3, H, W)`.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        pixels = np.array(open_rgb(path, upright=True))
    except Exception as error:  # whatever a damaged file makes Pillow stumble over
        why = f"{path} cannot be read as an image ({error or type(error).__name__})"
        raise DataError(f"{why}. {advice(error, 'Remove it, or replace it by a whole copy.')}") from error
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


class Photographs(FileSource):
    """Pictures in files, as `read_picture` reads them; arguments as for `FileSource`."""

    def picture(self, index: int) -> Tensor:
        return read_picture(os.fsdecode(bytes(self.paths[index])))


def middle_square(size: int) -> View:
    """What of a picture a network looks at, unless in training: the middle, after its shorter side is scaled to `size`."""
    return ResizeCenter(size, size)


def items_of(paths: Sequence[Path], size: int, labels: Sequence[int] | None = None) -> TestItems:
    """Pictures as a network trained on `data=folder` is tested on them, with labels or 0 for each.

    Raises:
        DataError: a file is missing or listed twice.
    """
    source = Photographs("images", paths, [0] * len(paths) if labels is None else labels)
    return TestItems(source, torch.arange(len(paths)), view=middle_square(size))
