"""Fakes of data sets to be damaged, and how they are loaded."""

from __future__ import annotations

import shutil
from pathlib import Path

import t3cen.data
from t3cen.data.errors import DataError
from t3cen.data.fakes import FAKE_MARK, write_fakes
from t3cen.data.preparation import recipes, state

SETS = tuple(name for name in recipes() if name != "shapes3d")
FOLDERS = {
    "mnist": "MNIST",
    "fashion_mnist": "FashionMNIST",
    "smallnorb": "smallnorb",
    "camelyon": "camelyon17_v1.0",
    "cifar10": "cifar-10-batches-py",
    "cifar100": "cifar-100-python",
    "stl10": "stl10_binary",
    "caltech101": "caltech101",
    "pets": "oxford-iiit-pet",
    "cars": "stanford_cars",
    "kutomadata": "kutomadata",
}


def load(name: str, root: Path) -> t3cen.data.ColorData:
    made, recipe = recipes()[name]
    data = made(root=root, **recipe.options)
    data.setup()
    return data


def checked(name: str, root: Path) -> bool:
    """Whether `prepare_data.py --check` finds nothing wrong; what it finds is raised."""
    whole, line = state(name, root)
    if not whole:
        raise DataError(line)
    return True


class Fakes:
    """Fakes of the data sets, written once; copies of one of them to be damaged."""

    def __init__(self, folder: Path, names: tuple[str, ...] = SETS) -> None:
        self.folder, self.count = folder, 0
        write_fakes(folder / "fakes", names)

    def copy(self, name: str) -> tuple[Path, Path]:
        """A new root, and the data set's folder in it."""
        shutil.rmtree(self.folder / f"copy{self.count}", ignore_errors=True)
        self.count += 1
        root = self.folder / f"copy{self.count}"
        shutil.copytree(self.folder / "fakes" / FOLDERS[name], root / FOLDERS[name])
        (root / FAKE_MARK).touch()
        return root, root / FOLDERS[name]
