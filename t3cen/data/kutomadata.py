"""KUTomaData: ripe and unripe tomatoes, where colour is the label."""

from __future__ import annotations

from pathlib import Path

from t3cen.data.errors import DataError, missing
from t3cen.data.files import FileSource, visible
from t3cen.data.natural import LargeNatural, Parts

EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
FOLDER = "kutomadata"


class KUTomaData(LargeNatural):
    """KUTomaData (paper, "Color as the signal" and appendix "KUTomaData"), from folders of our own making.

    No public download of the data set is known, nor its split. The layout read here is
    `<root>/kutomadata/{train,test}/{ripe,unripe}/*.jpg`; `scripts/prepare_data.py kutomadata --coco ...` makes it from pictures
    with COCO boxes. One test set, `test`. Arguments as for `NaturalData`.
    """

    name = "kutomadata"
    class_names = ("ripe", "unripe")
    test_names = ("test",)

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
