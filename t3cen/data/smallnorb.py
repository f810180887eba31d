"""Small NORB: grey pictures of toys, trained in medium light and tested in dim and bright light."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from t3cen.data.errors import DataError, broken, missing
from t3cen.data.files import check_classes, decode
from t3cen.data.items import TestItems, TrainItems
from t3cen.data.module import ColorData, Splits
from t3cen.data.smallnorb_render import CATEGORIES, TEST_INSTANCES, TRAIN_INSTANCES, toys
from t3cen.data.transforms import Resize
from t3cen.project import command

HUB = "Ramos-Ramos/smallnorb"
LIGHTINGS = {"A": (2, 3), "B": (0, 1), "C": (4, 5)}


class EncodedPictures:
    """PNG pictures in memory, as Hugging Face stores them, decoded when asked for; grey becomes RGB."""

    def __init__(self, images: Any, labels: Tensor, path: str) -> None:
        self.images, self.labels, self.path = images, labels, path

    def __len__(self) -> int:
        return len(self.labels)

    def picture(self, index: int) -> Tensor:
        import io

        content = self.images[index].as_py()
        return decode(io.BytesIO(content or b""), "smallnorb", f"{self.path}, row {index}")

    def label(self, index: int) -> int:
        return int(self.labels[index])


class GreyPictures:
    """Grey pictures in memory, given out as RGB: uint8 (N, H, W) and labels."""

    def __init__(self, images: Tensor, labels: Tensor) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.images)

    def picture(self, index: int) -> Tensor:
        return self.images[index].expand(3, -1, -1)

    def label(self, index: int) -> int:
        return int(self.labels[index])


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
        wanted = ("image_lt", "category", "lighting")
        absent = [column for column in wanted if column not in table.column_names]
        if absent:
            raise broken(self.name, where, f"has no column {', '.join(absent)}, only {', '.join(table.column_names)}")
        if table.num_rows == 0:
            raise DataError(f"{self.name}: {where} has no rows")
        category, lighting = (torch.from_numpy(np.array(table[column], dtype=np.int64)) for column in wanted[1:])
        check_classes(self.name, category.tolist(), self.num_classes, Path(where))
        for name, lightings in LIGHTINGS.items():
            if not torch.isin(lighting, torch.tensor(lightings)).any():
                raise broken(self.name, where, f"has no picture with lighting {lightings[0]} or {lightings[1]}, set {name}")
        images = table["image_lt"].combine_chunks().field("bytes")
        return EncodedPictures(images, category, where), lighting

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
            raise broken(self.name, found[0], f"cannot be read ({error})") from error

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
