"""CIFAR-10 and CIFAR-100."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from t3cen.data import DATA_SETS
from t3cen.data.download import Remote
from t3cen.data.fakes import Array, pictures
from t3cen.data.items import ArraySource
from t3cen.data.natural import Parts, SmallNatural
from t3cen.data.pickled import load_arrays
from t3cen.data.preparation import Recipe, get_archive
from t3cen.data.torchvision_files import read, require, verify

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ARCHIVE10 = Remote(("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",), 170_498_071, "c58f30108f718f92721af3b95e74349a")
ARCHIVE100 = Remote(("https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",), md5="eb9058c3a382ffc7106e4002c42a8d85")


def _pickle(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(content, protocol=2))


def _batch(rng: np.random.Generator, labels: Array) -> Array:
    return pictures(rng, labels, 32).transpose(0, 3, 1, 2).reshape(len(labels), 3072)


def fake10(root: Path) -> None:
    """Pickled batches, 5 x 20 and 20 pictures."""
    folder, rng = root / "cifar-10-batches-py", np.random.default_rng(1)
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        labels = np.arange(20) % 10
        _pickle(folder / name, {"data": _batch(rng, labels), "labels": labels.tolist(), "batch_label": name, "filenames": []})
    _pickle(folder / "batches.meta", {"label_names": [f"class {i}" for i in range(10)], "num_vis": 3072})


def fake100(root: Path) -> None:
    """Pickled parts, 200 and 100 pictures."""
    folder, rng = root / "cifar-100-python", np.random.default_rng(2)
    for name, count in (("train", 200), ("test", 100)):
        labels = np.arange(count) % 100
        content = {"data": _batch(rng, labels), "fine_labels": labels.tolist(), "coarse_labels": (labels // 5).tolist()}
        _pickle(folder / name, {**content, "filenames": []})
    _pickle(folder / "meta", {"fine_label_names": [f"class {i}" for i in range(100)], "coarse_label_names": []})


@DATA_SETS.register
class CIFAR10(SmallNatural):
    """CIFAR-10, from `<root>/cifar-10-batches-py`; arguments as for `NaturalData`."""

    name = "cifar10"
    class_names: tuple[str, ...] = CIFAR10_CLASSES
    published: ClassVar[dict[str, int]] = {"train": 50_000, "test": 10_000}
    native_size = 32
    recipes: ClassVar[tuple[Recipe, ...]] = (
        Recipe("cifar10", "170 MB", fake10, partial(get_archive, remote=ARCHIVE10, folder="cifar-10-batches-py")),
    )
    _torchvision: ClassVar[str] = "CIFAR10"
    _labels: ClassVar[str] = "labels"

    def read(self) -> Parts:
        from torchvision import datasets

        dataset: Any = getattr(datasets, self._torchvision)
        folder = self.root / dataset.base_folder
        checksums = {**dict(dataset.train_list), **dict(dataset.test_list), dataset.meta["filename"]: dataset.meta["md5"]}
        require(self.name, folder, list(checksums))
        if not self.is_fake:
            verify(self.name, folder, checksums)
        lists = ([folder / file for file, _ in part] for part in (dataset.train_list, dataset.test_list))
        return Parts(*(read(self.name, folder, self._source, files) for files in lists))

    def _source(self, files: Sequence[Path]) -> ArraySource:
        # not by torchvision, which unpickles whatever the files hold; those of fakes have no published checksum
        batches = [load_arrays(file) for file in files]
        images = np.vstack([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32)
        return ArraySource(torch.from_numpy(images), [label for batch in batches for label in batch[self._labels]])


@DATA_SETS.register
class CIFAR100(CIFAR10):
    """CIFAR-100 with its 100 fine labels, from `<root>/cifar-100-python`; arguments as for `NaturalData`."""

    name = "cifar100"
    class_names = tuple(f"class {i}" for i in range(100))
    recipes = (Recipe("cifar100", "169 MB", fake100, partial(get_archive, remote=ARCHIVE100, folder="cifar-100-python")),)
    _torchvision = "CIFAR100"
    _labels = "fine_labels"
