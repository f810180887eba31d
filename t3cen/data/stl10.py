"""STL-10."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from t3cen.data import DATA_SETS
from t3cen.data.download import Remote
from t3cen.data.fakes import pictures
from t3cen.data.items import ArraySource
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.preparation import Recipe, get_archive
from t3cen.data.torchvision_files import read, require, verify, without_checks

FOLDER = "stl10_binary"
ARCHIVE = Remote(
    ("http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",), 2_640_397_119, "91f7769df0f17e558f3565bffb0c7dfb"
)


def fake(root: Path) -> None:
    """Raw binaries, column by column, 40 and 20 pictures; labels from 1."""
    folder, rng = root / FOLDER, np.random.default_rng(3)
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 40), ("test", 20)):
        labels = np.arange(count) % 10
        (folder / f"{part}_X.bin").write_bytes(pictures(rng, labels, 96).transpose(0, 3, 2, 1).tobytes())
        (folder / f"{part}_y.bin").write_bytes((labels + 1).astype(np.uint8).tobytes())


@DATA_SETS.register
class STL10(LargeNatural):
    """STL-10, from `<root>/stl10_binary`; the 100,000 pictures without labels are not needed. Arguments as for `NaturalData`.

    The pictures have 96 x 96 pixels and are scaled to `image_size` (224), as the predecessors do.
    """

    name = "stl10"
    class_names = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
    published: ClassVar[dict[str, int]] = {"train": 5_000, "test": 8_000}
    recipes = (Recipe("stl10", "2.6 GB", fake, partial(get_archive, remote=ARCHIVE, folder=FOLDER)),)

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
