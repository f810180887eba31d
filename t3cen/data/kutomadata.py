"""KUTomaData: ripe and unripe tomatoes, where colour is the label."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from t3cen.data import DATA_SETS
from t3cen.data.errors import DataError, missing
from t3cen.data.fakes import MODES, photo
from t3cen.data.files import FileSource, visible
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.preparation import Recipe

EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
FOLDER = "kutomadata"

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
    with COCO boxes. One test set, `test`. Arguments as for `NaturalData`.
    """

    name = "kutomadata"
    class_names = ("ripe", "unripe")
    test_names = ("test",)
    training_images = 700
    recipes = (Recipe("kutomadata", BY_HAND, fake),)

    def read(self) -> Parts:
        return Parts(self._part("train"), self._part("test"))

    def _part(self, split: str) -> FileSource:
        paths: list[Path] = []
        labels: list[int] = []
        for label, class_name in enumerate(self.class_names):
            folder = self.root / FOLDER / split / class_name
            if not folder.is_dir():
                raise missing(self.name, f"folder {split}/{class_name}", folder)
            found = [path for path in visible(folder) if path.suffix.lower() in EXTENSIONS]
            if not found:
                raise DataError(f"{self.name}: {folder} has no pictures ({', '.join(EXTENSIONS)})")
            paths += found
            labels += [label] * len(found)
        return FileSource(self.name, paths, labels)
