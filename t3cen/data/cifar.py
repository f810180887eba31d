"""CIFAR-10 and CIFAR-100."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from t3cen.data.items import ArraySource
from t3cen.data.natural import Parts, SmallNatural
from t3cen.data.pickled import load_arrays
from t3cen.data.torchvision_files import read, require, verify

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


class CIFAR10(SmallNatural):
    """CIFAR-10, from `<root>/cifar-10-batches-py`; arguments as for `NaturalData`."""

    name = "cifar10"
    class_names: tuple[str, ...] = CIFAR10_CLASSES
    published: ClassVar[dict[str, int]] = {"train": 50_000, "test": 10_000}
    native_size = 32
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


class CIFAR100(CIFAR10):
    """CIFAR-100 with its 100 fine labels, from `<root>/cifar-100-python`; arguments as for `NaturalData`."""

    name = "cifar100"
    class_names = tuple(f"class {i}" for i in range(100))
    _torchvision = "CIFAR100"
    _labels = "fine_labels"
