"""Stanford Cars."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from t3cen.data.files import FileSource
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.torchvision_files import read, require


class Cars(LargeNatural):
    """Stanford Cars, 196 models, from `<root>/stanford_cars`; arguments as for `NaturalData`."""

    name = "cars"
    class_names = tuple(f"car {i}" for i in range(196))
    published: ClassVar[dict[str, int]] = {"train": 8_144, "test": 8_041}

    annotations: ClassVar[dict[str, str]] = {"train": "devkit/cars_train_annos.mat", "test": "cars_test_annos_withlabels.mat"}

    def read(self) -> Parts:
        folder = self.root / "stanford_cars"
        require(self.name, folder, ["devkit/cars_meta.mat", *self.annotations.values(), "cars_train", "cars_test"])
        return Parts(self._part("train"), self._part("test"))

    def _part(self, split: str) -> FileSource:
        from torchvision import datasets

        file = self.root / "stanford_cars" / self.annotations[split]
        listing = read(self.name, file, datasets.StanfordCars, self.root, split=split)
        return FileSource(self.name, [Path(path) for path, _ in listing._samples], [label for _, label in listing._samples])
