"""Pictures whose numbers could be read wrongly: flipped bits, depths, modes, boxes in another frame."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

import numpy as np
import torch
from data_attacks.fakes import Fakes
from PIL import Image

from t3cen.data.coco_import import import_coco
from t3cen.data.errors import DataError
from t3cen.data.files import decode


def flips(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    fakes = Fakes(folder, ("camelyon",))
    paths = sorted((fakes.folder / "fakes").rglob("*.png"))
    for case in range(cases):
        rng = random.Random(case)
        path = rng.choice(paths)
        content = bytearray(path.read_bytes())
        at, bit = rng.randrange(len(content)), rng.randrange(8)
        content[at] ^= 1 << bit

        def act(path: Path = path, content: bytes = bytes(content)) -> bool:
            return torch.equal(decode(io.BytesIO(content), "camelyon", path, 96), decode(path, "camelyon", path))

        yield f"byte {at}, bit {bit}", act


def _pictures(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray | None, Image.Image, str, dict[str, object]]]:
    """What it is, the truth (None: it must be refused), the picture, and the format and options to write it with."""
    deep = rng.integers(0, 65536, (8, 9), dtype=np.uint16)
    grey = np.round(deep / 257)[..., None]
    flat = rng.integers(0, 256, (8, 9, 3), dtype=np.uint8)
    smooth = np.broadcast_to(rng.integers(40, 216, 3, dtype=np.uint8), (8, 9, 3)).copy()
    colours, palette = Image.fromarray(flat), Image.fromarray(smooth).quantize(4)
    transparent = colours.convert("RGBA")
    transparent.putalpha(100)
    whole, decimal = Image.fromarray(deep.astype(np.int32)), Image.fromarray(deep.astype(np.float32) / 65535)
    for form in ("PNG", "TIFF", "PPM", "JPEG2000"):
        yield "16-bit grey", grey, Image.fromarray(deep), form, {}
    yield "16-bit grey, 0 is white", 255 - grey, Image.fromarray(deep), "TIFF", {"tiffinfo": {262: 0}}
    yield "32-bit grey", None, whole, "TIFF", {}
    yield "decimal grey", None, decimal, "TIFF", {}
    yield "1 bit", 255.0 * (flat[..., :1] > 127), Image.fromarray(flat[..., 0] > 127), "PNG", {}
    yield "transparent", flat, transparent, "PNG", {}
    yield "grey, transparent", np.asarray(colours.convert("L"))[..., None], transparent.convert("LA"), "PNG", {}
    yield "palette", smooth, palette, "PNG", {}
    yield "palette, transparent", smooth, palette, "PNG", {"transparency": bytes(range(4))}
    yield "palette", smooth, palette, "GIF", {"transparency": 0}
    yield "CMYK", flat, colours.convert("CMYK"), "TIFF", {}
    yield "CMYK", smooth, Image.fromarray(smooth).convert("CMYK"), "JPEG", {"quality": 100}
    yield "YCbCr", flat, colours.convert("YCbCr"), "TIFF", {}
    yield "LAB", None, Image.fromarray(smooth).convert("LAB"), "TIFF", {}


def modes(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    """The truth is made from the numbers that are written, not by the code under attack; formats lose up to 3 grey levels."""
    made = (picture for seed in count() for picture in _pictures(np.random.default_rng(seed)))
    for what, truth, image, form, options in islice(made, cases):
        written = io.BytesIO()
        image.save(written, form, **options)

        def act(truth: np.ndarray | None = truth, written: io.BytesIO = written, what: str = what) -> bool:
            try:
                found = decode(written, "kutomadata", what).permute(1, 2, 0).numpy().astype(float)
            except DataError:
                if truth is None:
                    raise
                return False
            return truth is not None and bool(np.abs(found - truth).max() <= 3)

        yield f"{what} {form}", act


OUTSIDE = ([50, 2, 17, 16], [-9, 2, 17, 16], [2, 30, 17, 16], [2, -5, 17, 16], [90, 90, 20, 20])
ODD = (
    "9999",
    {"2": 1, "3": 2, "20": 3, "21": 4},
    [True, 2, 17, 16],
    [2, 2, 17],
    ["a", 2, 17, 16],
    None,
    [2, 2, float("nan"), 16],
    [2, 2, float("inf"), 16],
    [20, 20, -17, -16],
)


def coco(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    """A photograph of four colours, one a corner; a box within the corner that looks red must give a red crop."""
    turns = {1: None, 2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # EXIF orientation: Pillow's operation that undoes it
    undone = {None: None, 0: 0, 1: 1, 2: 4, 3: 3, 4: 2, 5: 5, 6: 6}
    for case in range(cases):
        rng = random.Random(case)
        shown = np.zeros((40, 60, 3), np.uint8)
        shown[:20, :30], shown[:20, 30:], shown[20:, :30] = (200, 0, 0), (0, 200, 0), (0, 0, 200)
        orientation = rng.randrange(1, 9)
        operation = undone[turns[orientation]]
        image = Image.fromarray(shown)
        stored = image if operation is None else image.transpose(Image.Transpose(operation))
        exif = Image.Exif()
        exif[274] = orientation
        place = folder / f"coco{case}"
        frame = rng.choice(
            ("shown", "no size", "other size", "outside", "odd", "image twice", "category twice", "another folder")
        )
        box = {"outside": rng.choice(OUTSIDE), "odd": rng.choice(ODD)}.get(frame, [rng.randrange(8), rng.randrange(3), 17, 16])
        size = {"no size": {}, "other size": {"width": 600, "height": 400}}.get(frame, {"width": 60, "height": 40})
        for split in ("train", "test"):
            (place / split).mkdir(parents=True)
            (place / "annotations").mkdir(exist_ok=True)
            stored.save(place / split / "one.png", exif=exif)
            content = {
                "images": [{"id": 1, "file_name": "one.png", **size}],
                "categories": [{"id": 1, "name": "ripe"}, {"id": 2, "name": "unripe"}],
                "annotations": [{"image_id": 1, "category_id": kind, "bbox": box} for kind in (1, 2)],
            }
            twice = {"image twice": "images", "category twice": "categories"}.get(frame)
            if twice:
                content[twice].append({**content[twice][-1], "id": 1})
            if frame == "another folder":
                content["images"][0]["file_name"] = "../train/one.png"
            (place / "annotations" / f"{split}.json").write_text(json.dumps(content))

        def act(place: Path = place, frame: str = frame) -> bool:
            try:
                import_coco(place, place / "root")
            except DataError:
                if frame not in ("shown", "no size"):
                    raise
                return False
            crops = [np.asarray(Image.open(path)) for path in (place / "root").rglob("*.png")]
            return frame in ("shown", "no size") and all((crop == (200, 0, 0)).all() for crop in crops)

        yield f"orientation {orientation}, {frame}, {box}", act
