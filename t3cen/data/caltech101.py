"""Caltech-101."""

from __future__ import annotations

from typing import ClassVar

from t3cen.data.errors import DataError
from t3cen.data.files import FileSource
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.randomness import permutation
from t3cen.data.torchvision_files import read, require

TRAIN_SHARE = 0.67


class Caltech101(LargeNatural):
    """Caltech-101 without its background class, from `<root>/caltech101/101_ObjectCategories`; arguments as for `NaturalData`.

    It has no published split. As in the predecessors 67 % are training pictures and 33 % test pictures; here they are drawn by
    `split_seed`, whatever the seed of the run, and test pictures are never cropped at random.
    """

    name = "caltech101"
    class_names = tuple(f"class {i}" for i in range(101))
    published: ClassVar[dict[str, int]] = {"train": 8_677, "test": 8_677}

    def read(self) -> Parts:
        from torchvision import datasets

        folder = self.root / "caltech101" / "101_ObjectCategories"
        require(self.name, folder.parent, [folder.name, f"{folder.name}/BACKGROUND_Google"])
        listing = read(self.name, folder, datasets.Caltech101, self.root)
        if len(listing.categories) != self.num_classes:
            raise DataError(f"caltech101: {folder} has {len(listing.categories)} class folders, {self.num_classes} expected")
        paths = [
            folder / listing.categories[label] / f"image_{number:04d}.jpg"
            for number, label in zip(listing.index, listing.y, strict=True)
        ]
        source = FileSource(self.name, paths, listing.y)
        order = permutation(len(source), self.split_seed, 0)
        count = int(TRAIN_SHARE * len(source))
        train, test = order[:count].sort().values, order[count:].sort().values
        return Parts(source, source, train, test)
