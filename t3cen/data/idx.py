"""IDX files, the format of MNIST: fetched, unpacked and faked."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from t3cen.data.download import Remote, fetch, gunzip
from t3cen.data.fakes import Array, pictures
from t3cen.data.preparation import DOWNLOADS


def get_idx(root: Path, folder: str, mirrors: tuple[str, ...], md5s: Mapping[str, str], installed: Path | None = None) -> None:
    """Fetch and unpack the files of `<root>/<folder>/raw` that are not there.

    Args:
        mirrors: addresses before the names, tried in this order.
        md5s: of each file's archive, by the name of the file.
        installed: a folder of the operating system that may hold the archives.
    """
    for name, md5 in md5s.items():
        target = root / folder / "raw" / name
        if target.exists():
            continue
        packed = f"{name}.gz"
        local = installed / packed if installed is not None else None
        if local is None or not local.exists():
            remote = Remote(tuple(mirror + packed for mirror in mirrors), md5=md5)
            local = fetch(remote, root / DOWNLOADS / folder / packed)
        gunzip(local, target)


def write_idx(path: Path, array: Array) -> None:
    """Write uint8 numbers of any dimension: a big-endian header, then the bytes."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    path.write_bytes(header + np.ascontiguousarray(array, np.uint8).tobytes())


def fake_idx(root: Path, folder: str) -> None:
    """Write 80 training and 40 test pictures of ten classes into `<root>/<folder>/raw`."""
    raw, rng = root / folder / "raw", np.random.default_rng(0)
    raw.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 80), ("t10k", 40)):
        labels = np.arange(count) % 10
        write_idx(raw / f"{part}-images-idx3-ubyte", pictures(rng, labels, 28)[..., 0])
        write_idx(raw / f"{part}-labels-idx1-ubyte", labels)
