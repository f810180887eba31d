"""Reading and writing `3dshapes.h5` in its published schema."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from t3cen.data.drafts import draft
from t3cen.data.errors import DataError, broken
from t3cen.data.shapes3d_render import FACTORS, ORIENTATIONS, SCALES, RenderedShapes

COUNT = 480_000
FILE = "3dshapes.h5"
LAZY_BYTES = 1 << 20
"""Where more bytes than this have to be decompressed for a single picture, pictures are not read one by one."""


def labels() -> np.ndarray:
    """The label table, float64 (480000, 6): floor, wall and object hue 0 to 0.9, scale, shape number, orientation in degrees."""
    tenths = np.arange(10) / 10
    values = (tenths, tenths, tenths, SCALES, np.arange(4.0), ORIENTATIONS)
    return np.stack([axis.ravel() for axis in np.meshgrid(*values, indexing="ij")], -1)


def check(path: Path) -> None:
    """Read the file's description, and some labels.

    Raises:
        DataError: it is no HDF5 file, is cut short, or does not hold what 3D Shapes holds.
    """
    import h5py

    try:
        with h5py.File(path, "r") as file:
            for name, shape in (("images", (COUNT, 64, 64, 3)), ("labels", (COUNT, 6))):
                if name not in file:
                    raise broken("shapes3d", path, f"has no array {name!r}, only {', '.join(file) or 'nothing'}")
                if file[name].shape != shape:
                    raise broken("shapes3d", path, f"has {name} of shape {file[name].shape}, {shape} expected")
            if file["images"].dtype != np.uint8:
                raise broken("shapes3d", path, f"has images of type {file['images'].dtype}, uint8 expected")
            # one row in every scale, and the ends: a file in another order is a different data set
            rows = np.unique(np.concatenate([np.arange(0, COUNT, 7993), [COUNT - 1]]))
            if not np.allclose(file["labels"][:][rows], labels()[rows], atol=1e-3):
                raise broken("shapes3d", path, "has labels in another order than the published file")
    except OSError as error:
        raise broken("shapes3d", path, f"cannot be read ({error})") from error


class H5Shapes:
    """Pictures read from the file one by one; every process opens the file for itself, when it first needs it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._images: Any = None
        self._owner = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "_images": None, "_owner": 0}

    def __len__(self) -> int:
        return COUNT

    def picture(self, index: int) -> Tensor:
        # a handle that came through a fork shares its file position with the parent: open again
        if self._images is None or self._owner != os.getpid():
            import h5py

            self._images, self._owner = h5py.File(self.path, "r")["images"], os.getpid()
        try:
            image = self._images[index]
        except OSError as error:
            raise broken("shapes3d", self.path, f"has no readable image {index} ({error})") from error
        return torch.from_numpy(image).permute(2, 0, 1).contiguous()

    def label(self, index: int) -> int:
        return index // 15 % 4

    def runs_quickly(self) -> bool:
        """Whether single pictures can be read without decompressing megabytes for each."""
        import h5py

        with h5py.File(self.path, "r") as file:
            chunks = file["images"].chunks
        if chunks is None:
            return True
        touched = [-(-length // chunk) for length, chunk in zip((64, 64, 3), chunks[1:], strict=True)]
        return int(np.prod(chunks) * np.prod(touched)) <= LAZY_BYTES


class UnpackedShapes:
    """The pictures of one block of hues (60,000), unpacked beside the file and mapped into memory.

    Made by `unpack`; pictures are addressed by their number in the whole data set.
    """

    def __init__(self, path: Path, rows: Tensor) -> None:
        self.path = path
        self.at = {int(start): k for k, start in enumerate(rows[:: FACTORS[3] * FACTORS[4] * FACTORS[5]])}
        self._images: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_images": None}

    def __len__(self) -> int:
        return COUNT

    def picture(self, index: int) -> Tensor:
        if self._images is None:
            self._images = np.load(self.path, mmap_mode="r")
        block, scene = divmod(index, 480)
        image = np.array(self._images[self.at[block * 480] * 480 + scene])
        return torch.from_numpy(image).permute(2, 0, 1).contiguous()

    def label(self, index: int) -> int:
        return index // 15 % 4


def unpack(source: Path, target: Path, rows: Tensor) -> None:
    """Copy rows (whole runs of 480 scenes, in order) of the images into an uncompressed `.npy`, whole or not at all.

    Raises:
        DataError: the source cannot be read, or the target cannot be written.
    """
    shape = (len(rows), 64, 64, 3)
    try:
        # written, not mapped: on a full disk a write is refused with a reason, a mapped page kills the process
        with draft(target) as out:
            np.lib.format.write_array_header_1_0(out, {"descr": "|u1", "fortran_order": False, "shape": shape})
            for images in _pieces(source, rows.numpy()):
                out.write(images.data)
    except OSError as error:
        megabytes = f"{np.prod(shape) / 1e6:.0f} MB"
        raise DataError(f"shapes3d: {target} ({megabytes}) cannot be written: {error.strerror or error}") from error


def _pieces(source: Path, rows: np.ndarray) -> Iterator[np.ndarray]:
    """The images of these rows, a run of neighbours within one compressed chunk at a time."""
    import h5py

    try:
        with h5py.File(source, "r") as file:
            chunk = (file["images"].chunks or (480,))[0]
            breaks = np.flatnonzero((np.diff(rows) != 1) | (rows[1:] % chunk == 0)) + 1
            for run in np.split(rows, breaks):
                yield file["images"][run[0] : run[-1] + 1]
    except OSError as error:
        raise broken("shapes3d", source, f"cannot be unpacked ({error})") from error


def write(path: Path, rows: Iterable[int] | None = None) -> None:
    """Write a `3dshapes.h5` of rendered images.

    Args:
        path: the file; it appears when it is whole.
        rows: numbers of the images to draw; all others stay black. None draws all 480,000 (minutes).
    """
    import h5py

    temporary = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = RenderedShapes(64)
    try:
        with h5py.File(temporary, "w") as file:
            images = file.create_dataset("images", (COUNT, 64, 64, 3), np.uint8, chunks=(15, 64, 64, 3), compression="gzip")
            file.create_dataset("labels", data=labels(), compression="gzip")
            wanted = np.arange(COUNT) if rows is None else np.unique(np.fromiter(rows, int))
            for chunk in np.split(wanted, np.flatnonzero(np.diff(wanted // 15)) + 1):
                pictures = [drawn.picture(int(row)).permute(1, 2, 0).numpy() for row in chunk]
                images[chunk] = np.stack(pictures)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
