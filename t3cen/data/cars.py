"""Stanford Cars."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from t3cen.data import DATA_SETS
from t3cen.data.fakes import photo
from t3cen.data.files import FileSource
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.preparation import Recipe
from t3cen.data.torchvision_files import read, require

BY_HAND = (
    "Stanford Cars, about 2 GB: its host is gone, and torchvision cannot download it either. By hand, into "
    "ROOT/stanford_cars: (1) cars_train/ and cars_test/ with NNNNN.jpg, for instance from Kaggle's "
    "jessicali9530/stanford-cars-dataset (there one folder too deep); (2) devkit/ from car_devkit.tgz, attached to "
    "github.com/pytorch/vision/issues/7545; (3) cars_test_annos_withlabels.mat, linked in the same thread, beside devkit/ "
    "and not in it"
)
ANNOTATIONS = {"train": "devkit/cars_train_annos.mat", "test": "cars_test_annos_withlabels.mat"}


def fake(root: Path) -> None:
    """196 models with 1 picture in each part, and MATLAB annotations."""
    from scipy.io import savemat

    folder, rng = root / "stanford_cars", np.random.default_rng(6)
    (folder / "devkit").mkdir(parents=True, exist_ok=True)
    fields = [(f"bbox_{c}", "O") for c in ("x1", "y1", "x2", "y2")] + [("class", "O"), ("fname", "O")]
    for split, file in ANNOTATIONS.items():
        rows = np.empty((1, 196), dtype=fields)
        for label in range(196):
            name = f"{label + 1:05d}.jpg"
            photo(folder / f"cars_{split}" / name, rng, label, "L" if label == 7 else "RGB")
            rows[0, label] = (1, 1, 30, 30, np.uint8(label + 1), name)
        savemat(folder / file, {"annotations": rows})
    names = np.array([f"Car {i}" for i in range(196)], dtype=object)
    savemat(folder / "devkit" / "cars_meta.mat", {"class_names": names.reshape(1, -1)})


@DATA_SETS.register
class Cars(LargeNatural):
    """Stanford Cars, 196 models, from `<root>/stanford_cars`; arguments as for `NaturalData`."""

    name = "cars"
    class_names = tuple(f"car {i}" for i in range(196))
    published: ClassVar[dict[str, int]] = {"train": 8_144, "test": 8_041}
    recipes = (Recipe("cars", BY_HAND, fake),)

    def read(self) -> Parts:
        folder = self.root / "stanford_cars"
        require(self.name, folder, ["devkit/cars_meta.mat", *ANNOTATIONS.values(), "cars_train", "cars_test"])
        return Parts(self._part("train"), self._part("test"))

    def _part(self, split: str) -> FileSource:
        from torchvision import datasets

        file = self.root / "stanford_cars" / ANNOTATIONS[split]
        listing = read(self.name, file, datasets.StanfordCars, self.root, split=split)
        return FileSource(self.name, [Path(path) for path, _ in listing._samples], [label for _, label in listing._samples])
