"""Small NORB: grey pictures of toys, trained in medium light and tested in dim and bright light."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from t3cen.data import DATA_SETS
from t3cen.data.errors import DataError, broken, missing
from t3cen.data.fakes import picture
from t3cen.data.files import StoredPictures, decode
from t3cen.data.items import TestItems, TrainItems
from t3cen.data.labels import whole_numbers
from t3cen.data.module import ColorData, Splits
from t3cen.data.preparation import Recipe, get_parquet
from t3cen.data.smallnorb_render import CATEGORIES, TEST_INSTANCES, TRAIN_INSTANCES, toys
from t3cen.data.transforms import Resize
from t3cen.project import command

HUB = "Ramos-Ramos/smallnorb"
LIGHTINGS = {"A": (2, 3), "B": (0, 1), "C": (4, 5)}
FACTORS = {
    split: {"category": range(len(CATEGORIES)), "lighting": range(6), "instance": instances}
    for split, instances in (("train", TRAIN_INSTANCES), ("test", TEST_INSTANCES))
}
"""Columns of the parquet files that are read, and what may stand in them: no toy is in both parts."""


def get(root: Path) -> None:
    get_parquet(HUB, root / "smallnorb")


def fake(root: Path) -> None:
    """Two parquet files, 5 categories x 6 lightings x 2 pictures each."""
    import pyarrow
    import pyarrow.parquet

    folder, rng = root / "smallnorb", np.random.default_rng(8)
    folder.mkdir(parents=True, exist_ok=True)
    for split, instances, digest in (("train", (4, 6), "ba54590c34eb8af1"), ("test", (0, 1), "b4af1727fb5b132e")):
        grid = list(itertools.product(instances, range(6), range(5)))
        encoded = []
        for _, lighting, category in grid:
            grey = picture(rng, category, 96, 96)[..., 0] // 6 * (lighting + 1)
            stream = io.BytesIO()
            Image.fromarray(grey).save(stream, format="PNG")
            encoded.append({"bytes": stream.getvalue(), "path": None})
        kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
        columns = {side: pyarrow.array(encoded, kind) for side in ("image_lt", "image_rt")}
        numbers = {
            "category": [c for _, _, c in grid],
            "instance": [i for i, _, _ in grid],
            "elevation": [0] * len(grid),
            "azimuth": [0] * len(grid),
            "lighting": [light for _, light, _ in grid],
        }
        columns |= {name: pyarrow.array(values, pyarrow.int32()) for name, values in numbers.items()}
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{split}-00000-of-00001-{digest}.parquet")


class EncodedPictures(StoredPictures):
    """PNG pictures in memory, as Hugging Face stores them, decoded when asked for; grey becomes RGB."""

    def __init__(self, images: Any, labels: Tensor, path: str) -> None:
        self.images, self.labels, self.path = images, labels, path

    def stored(self, indices: Tensor) -> Iterator[bytes]:
        return (self.images[index].as_py() or b"" for index in indices.tolist())

    def picture(self, index: int) -> Tensor:
        content = self.images[index].as_py()
        return decode(io.BytesIO(content or b""), "smallnorb", f"{self.path}, row {index}", SmallNORB.native_size)


class GreyPictures:
    """Grey pictures in memory, given out as RGB: uint8 (N, H, W) and labels."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.images)

    def picture(self, index: int) -> Tensor:
        return self.images[index].expand(3, -1, -1)

    def stored(self, indices: Tensor) -> Iterator[bytes]:
        yield self.images[indices].numpy().tobytes()

    def label(self, index: int) -> int:
        return int(self.labels[index])


@DATA_SETS.register
class SmallNORB(ColorData):
    """Small NORB (paper, appendix "Small NORB"): left pictures, grey, 96 x 96, five categories of toys.

    Trained on lightings 2 and 3 of the published training toys. Test sets, of the test toys: `A` lightings 2 and 3, `B` 0 and 1
    (dim), `C` 4 and 5 (bright).

    Args:
        source: `files`, the parquet files under `<root>/smallnorb`; `hub`, Hugging Face's `Ramos-Ramos/smallnorb` through
            `datasets`, which downloads it at first use; `rendered`, drawn toys at any `image_size`.
        others: see `ColorData`.
    """

    name = "smallnorb"
    class_names = CATEGORIES
    sources = ("files", "hub", "rendered")
    sized_sources = ("files", "hub", "rendered")
    native_size = 96
    published: ClassVar[dict[str, int]] = {"train": 24_300, "test": 24_300}
    training_images = 8_100
    recipes = (Recipe("smallnorb", "small NORB from Hugging Face, 236 MB, research use", fake, get),)
    test_names = ("A", "B", "C")

    def prepare(self) -> Splits:
        (train, train_light), (test, test_light) = self._rendered() if self.source == "rendered" else self._parquet()
        resize = None if self.source == "rendered" else Resize(self.image_size)
        medium = torch.isin(train_light, torch.tensor(LIGHTINGS["A"])).nonzero()[:, 0]
        learn, hold = self.hold_out(medium)
        tests = {}
        for name, lightings in LIGHTINGS.items():
            rows = torch.isin(test_light, torch.tensor(lightings)).nonzero()[:, 0]
            tests[name] = TestItems(test, self.shorten(rows, self.test_size), view=resize)
        return Splits(
            train=TrainItems(train, self.shorten(learn, self.train_size), None, self.augmentation, self.seed, resize),
            validation={
                name: TestItems(train, self.shorten(hold, self.test_size), view=resize) for name in self.validation_names
            },
            test=tests,
            provenance={
                "lightings": LIGHTINGS,
                **(self.compare(train=len(train), test=len(test)) if self.source != "rendered" else {}),
            },
        )

    def _rendered(self) -> list[tuple[GreyPictures, Tensor]]:
        parts = []
        for instances in (TRAIN_INSTANCES, TEST_INSTANCES):
            pictures, factors = toys(instances, self.image_size)
            category, lighting = torch.from_numpy(factors).unbind(1)
            parts.append((GreyPictures(torch.from_numpy(pictures), category), lighting))
        return parts

    def _parquet(self) -> list[tuple[EncodedPictures, Tensor]]:
        return [self._read(split) for split in ("train", "test")]

    def _read(self, split: str) -> tuple[EncodedPictures, Tensor]:
        table, where = self._hub_table(split) if self.source == "hub" else self._file_table(split)
        wanted = ("image_lt", *FACTORS[split])
        absent = [column for column in wanted if column not in table.column_names]
        if absent:
            raise broken(self.name, where, f"has no column {', '.join(absent)}, only {', '.join(table.column_names)}")
        if table.num_rows == 0:
            raise DataError(f"{self.name}: {where} has no rows")
        factors = {}
        for column, allowed in FACTORS[split].items():
            try:
                factors[column] = whole_numbers(table[column].to_numpy())
            except ValueError as error:
                raise broken(self.name, where, f"has a column {column} that is none ({error})") from error
            foreign = sorted(set(factors[column].tolist()) - set(allowed))
            if foreign:
                raise broken(self.name, where, f"has {column} {foreign[0]}, one of {', '.join(map(str, allowed))} expected")
        lighting = factors["lighting"]
        for name, lightings in LIGHTINGS.items():
            absent = [str(light) for light in lightings if light not in lighting]
            if absent:
                raise broken(self.name, where, f"has no picture with lighting {' or '.join(absent)}, set {name}")
        images = table["image_lt"].combine_chunks().field("bytes")
        return EncodedPictures(images, factors["category"], where), lighting

    def _file_table(self, split: str) -> tuple[Any, str]:
        import pyarrow
        import pyarrow.parquet

        folder = self.root / "smallnorb"
        # the publisher keeps them in data/; a flat copy is as good
        found = sorted(folder.glob(f"{split}-*.parquet")) + sorted(folder.glob(f"data/{split}-*.parquet"))
        if not found:
            raise missing(self.name, f"{split}-*.parquet", folder, ["hub", "rendered"])
        try:
            return pyarrow.parquet.read_table(found[0]), str(found[0])
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise broken(self.name, found[0], f"cannot be read ({error})", error) from error

    def _hub_table(self, split: str) -> tuple[Any, str]:
        import datasets

        try:
            loaded = datasets.load_dataset(HUB, split=split)
        except (OSError, ValueError) as error:
            raise DataError(
                f"{self.name}: {HUB} cannot be had from Hugging Face ({error}). Ways on: `{command('data')} "
                "smallnorb` with data.source=files, or data.source=rendered."
            ) from error
        return loaded.data.table, HUB
