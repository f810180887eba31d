"""Oxford-IIIT Pets."""

from __future__ import annotations

from typing import ClassVar

from t3cen.data.files import FileSource
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.torchvision_files import read, require


class Pets(LargeNatural):
    """Oxford-IIIT Pets, 37 breeds, split trainval/test, from `<root>/oxford-iiit-pet`; arguments as for `NaturalData`."""

    name = "pets"
    class_names = tuple(f"breed {i}" for i in range(37))
    published: ClassVar[dict[str, int]] = {"train": 3_680, "test": 3_669}

    def read(self) -> Parts:
        folder = self.root / "oxford-iiit-pet"
        require(self.name, folder, ["images", "annotations/trainval.txt", "annotations/test.txt"])
        return Parts(self._part("trainval"), self._part("test"))

    def _part(self, split: str) -> FileSource:
        from torchvision import datasets

        file = self.root / "oxford-iiit-pet" / "annotations" / f"{split}.txt"
        listing = read(self.name, file, datasets.OxfordIIITPet, self.root, split=split)
        return FileSource(self.name, listing._images, listing._labels)
