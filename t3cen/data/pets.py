"""Oxford-IIIT Pets."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from t3cen.data import DATA_SETS
from t3cen.data.download import Remote, extract, fetch, whole_folder
from t3cen.data.fakes import MODES, photo
from t3cen.data.files import FileSource
from t3cen.data.natural import LargeNatural, Parts
from t3cen.data.preparation import DOWNLOADS, Recipe
from t3cen.data.torchvision_files import read, require

HOSTS = ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/", "https://thor.robots.ox.ac.uk/~vgg/data/pets/")
ARCHIVES = (
    Remote(tuple(f"{host}images.tar.gz" for host in HOSTS), 791_918_971, "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
    Remote(tuple(f"{host}annotations.tar.gz" for host in HOSTS), 19_173_078, "95a8c909bbe2e81eed6a22bccdf3f68f"),
)


def get(root: Path) -> None:
    packed = [fetch(remote, root / DOWNLOADS / "pets" / remote.name) for remote in ARCHIVES]

    def fill(temporary: Path) -> None:
        for archive in packed:
            extract(archive, temporary)

    whole_folder(root / "oxford-iiit-pet", fill)


def fake(root: Path) -> None:
    """37 breeds with 3 and 2 pictures."""
    folder, rng = root / "oxford-iiit-pet", np.random.default_rng(5)
    lines: dict[str, list[str]] = {"trainval": [], "test": []}
    for label in range(37):
        breed = f"{'Cat' if label % 2 else 'dog'}_{label:02d}"
        for number in range(1, 6):
            photo(folder / "images" / f"{breed}_{number}.jpg", rng, label, MODES[number - 1])
            lines["trainval" if number < 4 else "test"].append(f"{breed}_{number} {label + 1} {2 - label % 2} 1")
    (folder / "annotations" / "trimaps").mkdir(parents=True, exist_ok=True)
    for split, rows in lines.items():
        (folder / "annotations" / f"{split}.txt").write_text("\n".join(rows) + "\n")


@DATA_SETS.register
class Pets(LargeNatural):
    """Oxford-IIIT Pets, 37 breeds, split trainval/test, from `<root>/oxford-iiit-pet`; arguments as for `NaturalData`."""

    name = "pets"
    class_names = tuple(f"breed {i}" for i in range(37))
    published: ClassVar[dict[str, int]] = {"train": 3_680, "test": 3_669}
    recipes = (Recipe("pets", "811 MB, CC BY-SA 4.0", fake, get),)

    def read(self) -> Parts:
        folder = self.root / "oxford-iiit-pet"
        require(self.name, folder, ["images", "annotations/trainval.txt", "annotations/test.txt"])
        return Parts(self._part("trainval"), self._part("test"))

    def _part(self, split: str) -> FileSource:
        from torchvision import datasets

        file = self.root / "oxford-iiit-pet" / "annotations" / f"{split}.txt"
        listing = read(self.name, file, datasets.OxfordIIITPet, self.root, split=split)
        return FileSource(self.name, listing._images, listing._labels)
