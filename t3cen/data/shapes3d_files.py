"""Reading and writing `3dshapes.h5` in its published schema."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from t3cen.data.checksums import checksum
from t3cen.data.errors import broken, unwritable
from t3cen.data.lock import alone
from t3cen.data.shapes3d_render import FACTORS, ORIENTATIONS, SCALES, RenderedShapes
from t3cen.progress import Progress

log = logging.getLogger(__name__)
COUNT = 480_000
FILE = "3dshapes.h5"
SHA256 = "0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785"
"""Of the published file."""
DIGITS = 16
"""Hexadecimal digits of a digest in the name of a file made from another."""
LAZY_BYTES = 1 << 20
"""Where more bytes than this have to be decompressed for a single picture, pictures are not read one by one."""


def labels() -> np.ndarray:
    """The label table, float64 (480000, 6): floor, wall and object hue 0 to 0.9, scale, shape number, orientation in degrees."""
    tenths = np.arange(10) / 10
    values = (tenths, tenths, tenths, SCALES, np.arange(4.0), ORIENTATIONS)
    return np.stack([axis.ravel() for axis in np.meshgrid(*values, indexing="ij")], -1)


def check(path: Path) -> None:
    """Read the file's description and its labels.

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
            if not np.allclose(file["labels"][:], labels(), atol=1e-3):
                raise broken("shapes3d", path, "has labels in another order than the published file, or others")
    except OSError as error:
        raise broken("shapes3d", path, f"cannot be read ({error})", error) from error


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
            raise broken("shapes3d", self.path, f"has no readable image {index} ({error})", error) from error
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

    Made by `unpacked`; pictures are addressed by their number in the whole data set.
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


def unpacked(source: Path, digest: str, block: str, rows: Tensor) -> Path:
    """The `.npy` beside `source` with one block of its images, made if there is none that is whole.

    Its name holds the beginnings of two SHA-256 digests, of the file it was made from and of its own content, so that neither
    another source nor a damaged copy is taken for it, whatever their dates.

    Args:
        source: the HDF5 file.
        digest: its SHA-256.
        block, rows: name and numbers of the images: whole runs of 480 scenes, ascending.

    Raises:
        DataError: `source` cannot be read, or there is no room.
    """
    stem = f"{source.stem}_block{block}_{digest[:DIGITS]}"
    part = source.with_name(f"{stem}.part")

    def named(path: Path) -> Path:
        return path.with_name(f"{stem}_{checksum(path, 'sha256')[:DIGITS]}.npy")

    def whole() -> Path | None:
        return next((found for found in source.parent.glob(f"{stem}_*.npy") if found == named(found)), None)

    if there := whole():  # before the lock: the folder may be one that cannot be written
        return there
    try:
        with alone(part):
            if there := whole():
                return there
            for damaged in source.parent.glob(f"{stem}_*.npy"):
                log.warning("%s is damaged and is made anew", damaged)
                damaged.unlink()
            try:
                unpack(source, part, rows)
                return part.rename(named(part))
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(part, error) from error


def unpack(source: Path, target: Path, rows: Tensor) -> None:
    """Copy rows of the images into an uncompressed `.npy`.

    Raises:
        DataError: `source` cannot be read.
        OSError: `target` cannot be written.
    """
    import h5py

    # written, not mapped: where a disk is full, a write is refused and a map kills the process
    with target.open("wb") as out:
        shape = (len(rows), 64, 64, 3)
        np.lib.format.write_array_header_1_0(out, {"descr": "|u1", "fortran_order": False, "shape": shape})
        for run in np.split(rows.numpy(), np.flatnonzero(np.diff(rows.numpy()) != 1) + 1):
            try:
                with h5py.File(source, "r") as file:
                    images = file["images"][run[0] : run[-1] + 1]
            except OSError as error:
                raise broken("shapes3d", source, f"has unreadable images among {run[0]} to {run[-1]} ({error})", error) from error
            out.write(np.ascontiguousarray(images).data)


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
            with Progress(f"rendering {path.name}", total=len(wanted), unit="image") as progress:
                for chunk in np.split(wanted, np.flatnonzero(np.diff(wanted // 15)) + 1):
                    pictures = [drawn.picture(int(row)).permute(1, 2, 0).numpy() for row in chunk]
                    images[chunk] = np.stack(pictures)
                    progress.update(len(chunk))
        os.replace(temporary, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
