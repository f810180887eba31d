"""Fakes of the data sets that come as arrays: MNIST, Fashion-MNIST, CIFAR-10, CIFAR-100, STL-10."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np

from t3cen.data.fakes.pictures import Array, pictures


def write_idx(path: Path, array: Array) -> None:
    """Write uint8 numbers of any dimension as an IDX file: a big-endian header, then the bytes."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    path.write_bytes(header + np.ascontiguousarray(array, np.uint8).tobytes())


def _digits(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for part, count in (("train", 80), ("t10k", 40)):
        labels = np.arange(count) % 10
        write_idx(folder / f"{part}-images-idx3-ubyte", pictures(rng, labels, 28)[..., 0])
        write_idx(folder / f"{part}-labels-idx1-ubyte", labels)


def mnist(root: Path) -> None:
    """IDX files, 80 and 40 digits."""
    _digits(root / "MNIST" / "raw")


def fashion_mnist(root: Path) -> None:
    """IDX files, 80 and 40 pieces of clothing."""
    _digits(root / "FashionMNIST" / "raw")


def _pickle(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(content, protocol=2))


def _batch(rng: np.random.Generator, labels: Array) -> Array:
    return pictures(rng, labels, 32).transpose(0, 3, 1, 2).reshape(len(labels), 3072)


def cifar10(root: Path) -> None:
    """Pickled batches, 5 x 20 and 20 pictures."""
    folder, rng = root / "cifar-10-batches-py", np.random.default_rng(1)
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        labels = np.arange(20) % 10
        _pickle(folder / name, {"data": _batch(rng, labels), "labels": labels.tolist(), "batch_label": name, "filenames": []})
    _pickle(folder / "batches.meta", {"label_names": [f"class {i}" for i in range(10)], "num_vis": 3072})


def cifar100(root: Path) -> None:
    """Pickled parts, 200 and 100 pictures."""
    folder, rng = root / "cifar-100-python", np.random.default_rng(2)
    for name, count in (("train", 200), ("test", 100)):
        labels = np.arange(count) % 100
        content = {"data": _batch(rng, labels), "fine_labels": labels.tolist(), "coarse_labels": (labels // 5).tolist()}
        _pickle(folder / name, {**content, "filenames": []})
    _pickle(folder / "meta", {"fine_label_names": [f"class {i}" for i in range(100)], "coarse_label_names": []})


def stl10(root: Path) -> None:
    """Raw binaries, column by column, 40 and 20 pictures; labels from 1."""
    folder, rng = root / "stl10_binary", np.random.default_rng(3)
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 40), ("test", 20)):
        labels = np.arange(count) % 10
        (folder / f"{part}_X.bin").write_bytes(pictures(rng, labels, 96).transpose(0, 3, 2, 1).tobytes())
        (folder / f"{part}_y.bin").write_bytes((labels + 1).astype(np.uint8).tobytes())
