"""Images from files, for analyses that look at any folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".ppm", ".pgm")


def image_files(folder: Path) -> list[Path]:
    """Every image under a folder, in order of path.

    Raises:
        FileNotFoundError: there is no such folder.
        ValueError: it holds no image.
    """
    folder = Path(folder)
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}; give the path of a folder of images")
    # names with a dot in front are hidden: macOS leaves `._photo.jpg` beside photo.jpg, and thumbnails in hidden folders
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not files:
        raise ValueError(f"no images in {folder}; files ending in {', '.join(SUFFIXES)} count as images")
    return files


def evenly(items: Sequence[Path], count: int) -> list[Path]:
    """At most `count` of the items, spread evenly over them."""
    if count < 1:
        raise ValueError(f"at least one image is needed, got count={count}")
    if len(items) <= count:
        return list(items)
    return [items[at * len(items) // count] for at in range(count)]


def read_image(path: Path, longest: int | None = None) -> Tensor:
    """One image file as RGB.

    Args:
        path: of any format Pillow reads, converted as `t3cen.data.files.rgb` does.
        longest: larger images are made smaller, so that their longer side is this many pixels. Pixels are picked, not
            averaged, so that no colour appears that the image does not hold.

    Returns:
        `(3, H, W)` float32 in [0, 1].

    Raises:
        ValueError: the file cannot be read as an image.
    """
    import numpy as np
    from PIL import Image

    from t3cen.data.errors import advice
    from t3cen.data.files import open_rgb

    try:
        image = open_rgb(path)
    except Exception as error:  # whatever a damaged file makes Pillow stumble over
        why = f"{path} cannot be read as an image ({error or type(error).__name__})"
        raise ValueError(f"{why}. {advice(error, 'Remove it or replace it.')}") from error
    if longest is not None and max(image.size) > longest:
        scale = longest / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.NEAREST)
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).to(torch.float32).div_(255)
