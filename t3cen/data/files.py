"""Pictures in files of their own, of any kind Pillow reads, as RGB."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from t3cen.data.checksums import LIST, check_list
from t3cen.data.errors import broken, missing
from t3cen.data.labels import whole_numbers

DEEP_FORMATS = (None, "PNG", "TIFF", "PPM", "JPEG2000")
"""Formats whose 16-bit grey runs from 0 to 65535; None is a picture made in memory."""
LOOKED_AT = 20_000
"""Files whose sizes are part of what tells a set from others."""
BITS, PHOTOMETRIC, SAMPLE_FORMAT = 258, 262, 339
"""Tags of TIFF: bits of a sample, whether 0 is white, and whether samples are unsigned, signed or decimal."""


def visible(folder: Path) -> Iterator[Path]:
    """What lies in a folder, in order of name, without what macOS leaves: `._a`, `.DS_Store`, and `__MACOSX` of archives."""
    return (path for path in sorted(folder.iterdir()) if not (path.name.startswith(".") or path.name == "__MACOSX"))


def rgb(image: Image.Image) -> Image.Image:
    """A Pillow image as 8-bit RGB: grey of 1, 8 or 16 bits, palette, with transparency (dropped), CMYK, YCbCr, HSV.

    Raises:
        ValueError: numbers of unknown range (Pillow's modes F and I, signed TIFFs), which would have to be guessed, or LAB.
    """
    tags = getattr(image, "tag_v2", {})
    if any(kind != 1 for kind in tags.get(SAMPLE_FORMAT, ())):
        raise ValueError("its numbers are signed or decimal, of unknown range; save it with 8 or 16 bits, unsigned")
    # 16-bit PNM files come as I, scaled to 0..65535; so did 16-bit PNGs before Pillow 11
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM")):
        if image.format not in DEEP_FORMATS:
            raise ValueError(f"the range of 16-bit grey in {image.format} is unknown; save it as 8-bit or 16-bit PNG")
        return _from_deep(image, white=2 ** tags.get(BITS, (16,))[0] - 1, inverted=tags.get(PHOTOMETRIC) == 0)
    if image.mode in ("I", "F"):
        raise ValueError(f"the range of its numbers is unknown (Pillow's mode {image.mode}); save it with 8 or 16 bits, unsigned")
    if image.mode == "LAB":  # Pillow's conversion is off by up to 40 grey levels
        raise ValueError("its colours are CIELAB; save it as RGB")
    if image.mode == "La":
        image = image.convert("LA")
    if image.mode == "RGBa" or (image.mode == "P" and "transparency" in image.info):
        image = image.convert("RGBA")
    return image.convert("RGB")


def _from_deep(image: Image.Image, white: int, inverted: bool) -> Image.Image:
    """Grey of more than 8 bits, scaled from 0..white to 0..255 and rounded."""
    grey = np.array(image).astype(np.uint32)
    grey = (grey.clip(0, white) * 510 + white) // (2 * white)
    return Image.fromarray((255 - grey if inverted else grey).astype(np.uint8)).convert("RGB")


def open_rgb(file: Any, *, upright: bool = False) -> Image.Image:
    """A picture file (a path or a binary file object) by `rgb`, with Pillow's `info` about it.

    Args:
        upright: turned as its EXIF orientation says, as viewers show it; otherwise as it is stored (TIFF is turned by Pillow).

    Raises:
        Exception: whatever a damaged file makes Pillow stumble over.
    """
    with Image.open(file) as image:
        if image.format == "PNG":
            image.verify()  # reading alone lets 3 of 200 flipped bits pass
    with Image.open(file) as image:
        converted = rgb(image)
        converted.info = dict(image.info)
    return ImageOps.exif_transpose(converted) if upright else converted


def decode(file: Any, name: str, path: Path | str, size: int | None = None) -> Tensor:
    """Read a picture.

    Args:
        file: a path or a binary file object.
        name, path: the data set and the file, for the message of an error.
        size: height and width it must have; None takes any.

    Returns:
        uint8 RGB `(3, H, W)`.

    Raises:
        DataError: it is cut short, no picture, of another size, or its range of numbers is unknown.
    """
    try:
        pixels = np.array(open_rgb(file))
    except Exception as error:  # whatever a damaged file makes Pillow stumble over
        raise broken(name, path, f"is no readable picture ({error or type(error).__name__})", error) from error
    if size is not None and pixels.shape[:2] != (size, size):
        raise broken(name, path, f"has {pixels.shape[1]} x {pixels.shape[0]} pixels, {size} x {size} expected")
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


class StoredPictures(ABC):
    """Pictures encoded one by one, decoded when asked for; `labels` is a whole number for each."""

    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    @abstractmethod
    def picture(self, index: int) -> Tensor:
        """uint8 RGB `(3, H, W)`; raises DataError where it cannot be read."""

    def label(self, index: int) -> int:
        return int(self.labels[index])

    def check(self) -> None:
        """Read every picture.

        Raises:
            DataError: one cannot be read.
        """
        for index in range(len(self)):
            self.picture(index)


class FileSource(StoredPictures):
    """Pictures in files, read when asked for.

    Args:
        name: the data set, for messages.
        paths: one file for each picture.
        labels: one whole number for each.
        size: height and width that every picture must have, or None.

    Raises:
        DataError: a file is missing or listed twice, or a label is no whole number.
    """

    def __init__(self, name: str, paths: Sequence[Path], labels: Sequence[int] | Tensor, size: int | None = None) -> None:
        absent = list(_absent(paths))
        if absent:
            what = absent[0].name if len(absent) == 1 else f"{absent[0].name} and {len(absent) - 1} more pictures"
            raise missing(name, what, absent[0])
        encoded = [os.fsencode(path) for path in paths]
        if len(set(encoded)) < len(encoded):
            raise broken(name, os.fsdecode(Counter(encoded).most_common(1)[0][0]), "is listed twice")
        try:
            self.labels = whole_numbers(labels)
        except ValueError as error:
            raise broken(name, paths[0].parent, f"has no usable labels ({error})") from error
        self.name, self.size = name, size
        # one array of bytes instead of many objects: forked workers share its memory instead of copying it page by page
        self.paths = np.array(encoded)

    def picture(self, index: int) -> Tensor:
        path = os.fsdecode(bytes(self.paths[index]))
        return decode(path, self.name, path, self.size)

    def stored(self, indices: Tensor) -> Iterator[bytes]:
        """Sizes of the files, of `LOOKED_AT` at most: to ask for those of 455,954 takes minutes."""
        picked = indices[torch.linspace(0, len(indices) - 1, min(len(indices), LOOKED_AT)).long()]
        return (b"%d " % os.stat(bytes(self.paths[index])).st_size for index in picked.tolist())

    def check(self) -> None:
        """Read every picture, and compare all files with the digests noted when they were unpacked, where they were.

        Raises:
            DataError: one cannot be read, or differs.
        """
        super().check()
        for folder in Path(os.fsdecode(bytes(self.paths[0]))).parents:
            if (folder / LIST).is_file():
                return check_list(self.name, folder)


def _absent(paths: Sequence[Path]) -> Iterator[Path]:
    """Those that are no files. Folders are listed, which takes seconds where asking for each of 455,954 files takes minutes."""
    listed: dict[Path, set[str]] = {}
    for path in paths:
        folder = path.parent
        if folder not in listed:
            listed[folder] = {entry.name for entry in os.scandir(folder) if entry.is_file()} if folder.is_dir() else set()
        if path.name not in listed[folder] and not path.is_file():
            yield path
