"""Tomatoes cut out of photographs with COCO boxes, into the folders that `KUTomaData` reads."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

from t3cen.data.download import whole_folder
from t3cen.data.errors import DataError, broken
from t3cen.data.files import open_rgb

RIPE, UNRIPE = ("ripe", "fully_ripened"), ("unripe", "green")
"""Category names, or their ends (Laboro Tomato: b_fully_ripened, l_green, ...). Half-ripe ones belong to neither."""
SLACK = 1
"""Pixels by which a box may leave its photograph, for rounding; it is cut off there."""


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
        DataError: a file is missing or damaged, a box leaves its photograph or counts the pixels of one of another size, no box
            was of either class, or the folder exists already.
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
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        categories = _once("categories", ((c["id"], _class_of(c["name"], ripe, unripe)) for c in content["categories"]))
        pictures = _once(
            "images",
            ((i["id"], (_inside(coco / split, i["file_name"]), (i.get("width"), i.get("height")))) for i in content["images"]),
        )
        boxes: dict[Any, list[tuple[str | None, Any]]] = {}
        for annotation in content["annotations"]:
            kind = categories[annotation["category_id"]]
            boxes.setdefault(annotation["image_id"], []).append((kind, annotation.get("bbox")))
        unknown = next((image_id for image_id in boxes if image_id not in pictures), None)
        if unknown is not None:
            raise KeyError(f"image_id {unknown}")
    except FileNotFoundError as error:
        raise DataError(f"kutomadata: {path} is missing; a COCO instances file is expected there") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise broken("kutomadata", path, f"is no COCO instances file ({type(error).__name__}: {error})", error) from error
    for label in ("ripe", "unripe"):
        (folder / split / label).mkdir(parents=True)
    for image_id, found in boxes.items():
        place, size = pictures[image_id]
        photo = _photograph(place, size, path)
        for number, (kind, numbers) in enumerate(found):
            box = (0, 0, 0, 0) if kind is None else _corners(numbers, photo.size, place, path)
            if kind is None or min(box[2] - box[0], box[3] - box[1]) < smallest:
                counts["left out"] += 1
                continue
            flat = os.path.relpath(place.with_suffix(""), coco / split).replace(os.sep, "_")
            name = folder / split / kind / f"{flat}_{number:03d}.png"
            if name.exists():
                raise broken("kutomadata", path, f"names two photographs alike: {name.name} would be written twice")
            photo.crop(box).save(name)
            counts[f"{split}/{kind}"] += 1
    for label in ("ripe", "unripe"):
        if not counts[f"{split}/{label}"]:
            names = ", ".join(sorted(c["name"] for c in content["categories"]))
            raise DataError(f"kutomadata: {path} has no box of a {label} tomato; its categories are {names}")


def _once(what: str, pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    found = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"two {what} have the id {key!r}")
        found[key] = value
    return found


def _inside(folder: Path, name: str) -> Path:
    path = folder / name
    if not Path(os.path.abspath(path)).is_relative_to(folder.absolute()):
        raise ValueError(f"the photograph {name!r} is not in {folder}")
    return path


def _photograph(place: Path, size: tuple[int | None, int | None], path: Path) -> Image.Image:
    """A photograph as its boxes count pixels: turned by its EXIF orientation, as annotation tools show it.

    Only where the annotations give the width and height of the stored picture, which is not those of the turned one, is it left
    as it is stored.
    """
    try:
        stored = open_rgb(place)
        turned = ImageOps.exif_transpose(stored)
    except Exception as error:  # whatever a damaged file makes Pillow stumble over
        raise broken("kutomadata", place, f"is missing or no picture ({error})", error) from error
    if None in size or size == turned.size:
        return turned
    if size == stored.size:
        return stored
    found = f"{place} has {stored.size[0]} x {stored.size[1]}"
    raise broken("kutomadata", path, f"has boxes for {size[0]} x {size[1]} pixels, but {found}")


def _corners(numbers: Any, size: tuple[int, int], place: Path, path: Path) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a COCO box (x, y, width, height), rounded down, within the picture."""
    try:
        if not (isinstance(numbers, list) and {*map(type, numbers)} <= {int, float}):
            raise TypeError
        x, y, width, height = map(float, numbers)
        left, top, right, bottom = int(x), int(y), int(x + width), int(y + height)
    except (TypeError, ValueError, OverflowError) as error:
        raise broken("kutomadata", path, f"has a box {numbers!r} on {place.name}, four numbers are expected") from error
    if min(x, y) < -SLACK or width < 0 or height < 0 or x + width > size[0] + SLACK or y + height > size[1] + SLACK:
        raise broken("kutomadata", path, f"has a box {numbers!r} that leaves {place.name} of {size[0]} x {size[1]} pixels")
    return max(0, left), max(0, top), min(size[0], right), min(size[1], bottom)
