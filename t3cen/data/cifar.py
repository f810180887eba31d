"""CIFAR-10 and CIFAR-100."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from t3cen.data.items import ArraySource
from t3cen.data.natural import Parts, SmallNatural
from t3cen.data.torchvision_files import read, require, verify, without_checks

CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


class CIFAR10(SmallNatural):
    """CIFAR-10, from `<root>/cifar-10-batches-py`; arguments as for `NaturalData`."""

    name = "cifar10"
    class_names: tuple[str, ...] = CIFAR10_CLASSES
    published: ClassVar[dict[str, int]] = {"train": 50_000, "test": 10_000}
    native_size = 32
    _torchvision: ClassVar[str] = "CIFAR10"

    def read(self) -> Parts:
        from torchvision import datasets

        dataset: Any = getattr(datasets, self._torchvision)
        folder = self.root / dataset.base_folder
        checksums = {**dict(dataset.train_list), **dict(dataset.test_list), dataset.meta["filename"]: dataset.meta["md5"]}
        require(self.name, folder, list(checksums))
        if not self.is_fake:
            verify(self.name, folder, checksums)
        plain = without_checks(
            dataset,
            train_list=[[file, None] for file, _ in dataset.train_list],
            test_list=[[file, None] for file, _ in dataset.test_list],
            meta={**dataset.meta, "md5": None},
        )
        train, test = (read(self.name, folder, plain, self.root, train=part) for part in (True, False))
        return Parts(read(self.name, folder, _source, train), read(self.name, folder, _source, test))


def _source(part: Any) -> ArraySource:
    return ArraySource(torch.from_numpy(part.data).permute(0, 3, 1, 2).contiguous(), part.targets)


class CIFAR100(CIFAR10):
    """CIFAR-100 with its 100 fine labels, from `<root>/cifar-100-python`; arguments as for `NaturalData`."""

    name = "cifar100"
    class_names = tuple(f"class {i}" for i in range(100))
    _torchvision = "CIFAR100"
