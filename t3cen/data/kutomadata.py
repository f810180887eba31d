"""KUTomaData: ripe and unripe tomatoes, where colour is the label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from t3cen.data import DATA_SETS
from t3cen.data.errors import DataError, missing
from t3cen.data.fakes import MODES, photo
from t3cen.data.files import FileSource, visible
from t3cen.data.items import ArraySource, Source
from t3cen.data.kutomadata_synthetic import tomato
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.preparation import Recipe

EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
FOLDER = "kutomadata"
DRAWN = {"train": 700, "test": 300}

BY_HAND = (
    "KUTomaData (Khan et al. 2023, doi 10.1038/s41598-023-50129-w): no public download is known; ask its authors. By hand: "
    "ROOT/kutomadata/{train,test}/{ripe,unripe}/*.jpg. Photographs with COCO boxes are cut up by --coco FOLDER "
    "(FOLDER/annotations/{train,test}.json and FOLDER/{train,test}/); Laboro Tomato (github.com/laboroai/LaboroTomato) is a "
    "public stand-in"
)


def fake(root: Path) -> None:
    """Ripe and unripe, 10 and 6 pictures each."""
    rng = np.random.default_rng(7)
    for split, count in (("train", 10), ("test", 6)):
        for label, name in enumerate(("ripe", "unripe")):
            for number in range(count):
                photo(root / FOLDER / split / name / f"{number:03d}.jpg", rng, label, MODES[number % 5])


@DATA_SETS.register
class KUTomaData(LargeNatural):
    """KUTomaData (paper, "Color as the signal" and appendix "KUTomaData"), from folders of our own making.

    No public download of the data set is known, nor its split. The layout read here is
    `<root>/kutomadata/{train,test}/{ripe,unripe}/*.jpg`; `scripts/prepare_data.py kutomadata --coco ...` makes it from pictures
    with COCO boxes. One test set, `test`.

    Args:
        source: `files`; `synthetic`, drawn tomatoes at any `image_size`, 700 for training and 300 in the test.
        others: see `NaturalData`.
    """

    name = "kutomadata"
    class_names = ("ripe", "unripe")
    sources = ("files", "synthetic")
    sized_sources = ("files", "synthetic")  # type: ignore[assignment]  # the base class has one, and its length as a type
    test_names = ("test",)
    training_images = 700
    recipes = (Recipe("kutomadata", BY_HAND, fake),)

    def read(self) -> Parts:
        part = self._drawn if self.source == "synthetic" else self._files
        return Parts(part("train"), part("test"))

    def _drawn(self, split: str) -> Source:
        labels = [number % 2 for number in range(DRAWN[split])]
        numbers = range(*(0, DRAWN["train"]) if split == "train" else (DRAWN["train"], sum(DRAWN.values())))
        pictures = [tomato(label, n, self.image_size, self.split_seed) for label, n in zip(labels, numbers, strict=True)]
        return ArraySource(torch.from_numpy(np.stack(pictures)), labels)

    def _files(self, split: str) -> Source:
        paths: list[Path] = []
        labels: list[int] = []
        for label, class_name in enumerate(self.class_names):
            folder = self.root / FOLDER / split / class_name
            if not folder.is_dir():
                raise missing(self.name, f"folder {split}/{class_name}", folder, ["synthetic"])
            found = [path for path in visible(folder) if path.suffix.lower() in EXTENSIONS]
            if not found:
                raise DataError(f"{self.name}: {folder} has no pictures ({', '.join(EXTENSIONS)})")
            paths += found
            labels += [label] * len(found)
        return FileSource(self.name, paths, labels)
