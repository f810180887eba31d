"""Tomatoes cut out of photographs with COCO boxes, into the folders that `KUTomaData` reads."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from t3cen.data.download import whole_folder
from t3cen.data.errors import DataError, broken
from t3cen.data.files import rgb

RIPE, UNRIPE = ("ripe", "fully_ripened"), ("unripe", "green")
"""Category names, or their ends (Laboro Tomato: b_fully_ripened, l_green, ...). Half-ripe ones belong to neither."""


def import_coco(
    coco: Path, root: Path, ripe: Sequence[str] = RIPE, unripe: Sequence[str] = UNRIPE, smallest: int = 16
) -> dict[str, int]:
    """Write `<root>/kutomadata/{train,test}/{ripe,unripe}` from annotated photographs.

    Args:
        coco: a folder with `annotations/{train,test}.json` and the photographs in `train/` and `test/`.
        root: the data root.
        ripe, unripe: names of categories, or what they end in after an underscore; others are left out.
        smallest: boxes with a side of fewer pixels are left out.

    Returns:
        how many were written, by `split/class`, and how many left out.

    Raises:
        DataError: a file is missing or damaged, no box was of either class, or the folder exists already.
    """
    counts: Counter[str] = Counter()

    def fill(folder: Path) -> None:
        for split in ("train", "test"):
            _import_split(coco, split, folder, ripe, unripe, smallest, counts)

    whole_folder(root / "kutomadata", fill)
    return dict(counts)


def _class_of(name: str, ripe: Sequence[str], unripe: Sequence[str]) -> str | None:
    for label, endings in (("unripe", unripe), ("ripe", ripe)):
        if any(name == ending or name.endswith(f"_{ending}") for ending in endings):
            return label
    return None


def _import_split(
    coco: Path, split: str, folder: Path, ripe: Sequence[str], unripe: Sequence[str], smallest: int, counts: Counter[str]
) -> None:
    path = coco / "annotations" / f"{split}.json"
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        categories = {c["id"]: _class_of(c["name"], ripe, unripe) for c in content["categories"]}
        pictures = {i["id"]: coco / split / i["file_name"] for i in content["images"]}
        boxes: dict[Any, list[dict[str, Any]]] = {}
        for annotation in content["annotations"]:
            boxes.setdefault(annotation["image_id"], []).append(annotation)
    except FileNotFoundError as error:
        raise DataError(f"kutomadata: {path} is missing; a COCO instances file is expected there") from error
    except (ValueError, KeyError, TypeError) as error:
        raise broken("kutomadata", path, f"is no COCO instances file ({type(error).__name__}: {error})") from error
    for label in ("ripe", "unripe"):
        (folder / split / label).mkdir(parents=True)
    for image_id, found in boxes.items():
        try:
            with Image.open(pictures[image_id]) as image:
                photo = rgb(image)
        except (OSError, KeyError) as error:
            raise broken("kutomadata", pictures.get(image_id, path), f"is missing or no picture ({error})") from error
        for number, annotation in enumerate(found):
            kind = categories.get(annotation["category_id"])
            x, y, width, height = annotation["bbox"]
            if kind is None or min(width, height) < smallest:
                counts["left out"] += 1
                continue
            crop = photo.crop((int(x), int(y), int(x + width), int(y + height)))
            place = os.path.relpath(pictures[image_id].with_suffix(""), coco / split).replace(os.sep, "_")
            name = folder / split / kind / f"{place}_{number:03d}.png"
            if name.exists():
                raise broken("kutomadata", path, f"names two photographs alike: {name.name} would be written twice")
            crop.save(name)
            counts[f"{split}/{kind}"] += 1
    for label in ("ripe", "unripe"):
        if not counts[f"{split}/{label}"]:
            names = ", ".join(sorted(c["name"] for c in content["categories"]))
            raise DataError(f"kutomadata: {path} has no box of a {label} tomato; its categories are {names}")
