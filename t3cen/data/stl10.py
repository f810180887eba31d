"""STL-10."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from t3cen.data.items import ArraySource
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.torchvision_files import read, require, verify, without_checks


class STL10(LargeNatural):
    """STL-10, from `<root>/stl10_binary`; the 100,000 pictures without labels are not needed. Arguments as for `NaturalData`.

    The pictures have 96 x 96 pixels and are scaled to `image_size` (224), as the predecessors do.
    """

    name = "stl10"
    class_names = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
    published: ClassVar[dict[str, int]] = {"train": 5_000, "test": 8_000}

    def read(self) -> Parts:
        from torchvision import datasets

        dataset: Any = datasets.STL10
        folder = self.root / dataset.base_folder
        train_list, test_list = dataset.train_list[:2], dataset.test_list
        checksums = {**dict(train_list), **dict(test_list)}
        require(self.name, folder, list(checksums))
        if not self.is_fake:
            verify(self.name, folder, checksums)
        plain = without_checks(
            dataset, train_list=[[file, None] for file, _ in train_list], test_list=[[file, None] for file, _ in test_list]
        )
        train, test = (read(self.name, folder, plain, self.root, split=split) for split in ("train", "test"))
        return Parts(read(self.name, folder, _source, train), read(self.name, folder, _source, test))


def _source(part: Any) -> ArraySource:
    return ArraySource(torch.from_numpy(part.data.copy()), torch.from_numpy(part.labels.astype("int64")))
