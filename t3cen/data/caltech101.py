"""Caltech-101."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

import numpy as np

from t3cen.data import DATA_SETS
from t3cen.data.download import Remote, extract, fetch, whole_folder
from t3cen.data.errors import DataError
from t3cen.data.fakes import MODES, photo
from t3cen.data.files import FileSource, visible
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.preparation import DOWNLOADS, Recipe
from t3cen.data.randomness import permutation
from t3cen.data.torchvision_files import require

TRAIN_SHARE = 0.67
BACKGROUND = "BACKGROUND_Google"
ARCHIVE = Remote(
    ("https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip",), 137_414_764, "3138e1922a9193bfa496528edbbc45d0"
)


def get(root: Path) -> None:
    packed = fetch(ARCHIVE, root / DOWNLOADS / ARCHIVE.name)

    def fill(temporary: Path) -> None:
        extract(packed, temporary)
        extract(temporary / "caltech-101" / "101_ObjectCategories.tar.gz", temporary)
        shutil.rmtree(temporary / "caltech-101")

    whole_folder(root / "caltech101", fill)


def fake(root: Path) -> None:
    """102 folders, the background among them, with 6 pictures each, one in ten not RGB."""
    folder, rng = root / "caltech101" / "101_ObjectCategories", np.random.default_rng(4)
    for label in range(102):
        category = BACKGROUND if label == 101 else f"category_{label:03d}"
        for number in range(1, 7):
            photo(folder / category / f"image_{number:04d}.jpg", rng, label, MODES[label % 5] if number == 1 else "RGB")


@DATA_SETS.register
class Caltech101(LargeNatural):
    """Caltech-101 without its background class, from `<root>/caltech101/101_ObjectCategories`; arguments as for `NaturalData`.

    It has no published split. As in the predecessors 67 % are training pictures and 33 % test pictures; here they are drawn by
    `split_seed`, whatever the seed of the run, and test pictures are never cropped at random.
    """

    name = "caltech101"
    class_names = tuple(f"class {i}" for i in range(101))
    published: ClassVar[dict[str, int]] = {"train": 8_677, "test": 8_677}
    training_images = 5_813
    recipes = (Recipe("caltech101", "137 MB, CC BY 4.0", fake, get),)

    def read(self) -> Parts:
        folder = self.root / "caltech101" / "101_ObjectCategories"
        require(self.name, folder.parent, [folder.name, f"{folder.name}/{BACKGROUND}"])
        categories = [path for path in visible(folder) if path.name != BACKGROUND]
        if len(categories) != self.num_classes:
            raise DataError(f"caltech101: {folder} has {len(categories)} class folders, {self.num_classes} expected")
        # numbered from 1 without gaps: as many as there are, so that a missing one is noticed
        counts = [len(list(category.glob("image_*.jpg"))) for category in categories]
        paths = [
            category / f"image_{number:04d}.jpg"
            for category, count in zip(categories, counts, strict=True)
            for number in range(1, count + 1)
        ]
        source = FileSource(self.name, paths, [label for label, count in enumerate(counts) for _ in range(count)])
        order = permutation(len(source), self.split_seed, 0)
        count = int(TRAIN_SHARE * len(source))
        train, test = order[:count].sort().values, order[count:].sort().values
        return Parts(source, source, train, test)
