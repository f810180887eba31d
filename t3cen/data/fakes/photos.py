"""Fakes of the data sets that come as photographs in folders: Caltech-101, Pets, Cars, KUTomaData; of all modes found in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from t3cen.data.fakes.pictures import picture

MODES = ("RGB", "L", "P", "RGBA", "CMYK")


def photo(path: Path, rng: np.random.Generator, label: int, mode: str = "RGB") -> None:
    """A small picture of odd proportions. Palette and transparent ones are PNGs, whatever their name, as in the real sets."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = (int(side) for side in rng.integers(40, 72, 2))
    image = Image.fromarray(picture(rng, label, height, width)).convert(mode)
    image.save(path, format="PNG" if mode in ("P", "RGBA") else "JPEG")


def caltech101(root: Path) -> None:
    """102 folders, the background among them, with 6 pictures each, one in ten not RGB."""
    folder, rng = root / "caltech101" / "101_ObjectCategories", np.random.default_rng(4)
    for label in range(102):
        category = "BACKGROUND_Google" if label == 101 else f"category_{label:03d}"
        for number in range(1, 7):
            photo(folder / category / f"image_{number:04d}.jpg", rng, label, MODES[label % 5] if number == 1 else "RGB")


def pets(root: Path) -> None:
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


def cars(root: Path) -> None:
    """196 models with 1 picture in each part, and MATLAB annotations."""
    from scipy.io import savemat

    folder, rng = root / "stanford_cars", np.random.default_rng(6)
    (folder / "devkit").mkdir(parents=True, exist_ok=True)
    fields = [(f"bbox_{c}", "O") for c in ("x1", "y1", "x2", "y2")] + [("class", "O"), ("fname", "O")]
    for split, file in (("train", "devkit/cars_train_annos.mat"), ("test", "cars_test_annos_withlabels.mat")):
        rows = np.empty((1, 196), dtype=fields)
        for label in range(196):
            name = f"{label + 1:05d}.jpg"
            photo(folder / f"cars_{split}" / name, rng, label, "L" if label == 7 else "RGB")
            rows[0, label] = (1, 1, 30, 30, np.uint8(label + 1), name)
        savemat(folder / file, {"annotations": rows})
    names = np.array([f"Car {i}" for i in range(196)], dtype=object)
    savemat(folder / "devkit" / "cars_meta.mat", {"class_names": names.reshape(1, -1)})


def kutomadata(root: Path) -> None:
    """Ripe and unripe, 10 and 6 pictures each."""
    rng = np.random.default_rng(7)
    for split, count in (("train", 10), ("test", 6)):
        for label, name in enumerate(("ripe", "unripe")):
            for number in range(count):
                photo(root / "kutomadata" / split / name / f"{number:03d}.jpg", rng, label, MODES[number % 5])
