"""Anybody's own images, in one folder a class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from t3cen.data import DATA_SETS
from t3cen.data.errors import DataError, MissingData
from t3cen.data.fakes import MODES, photo
from t3cen.data.files import visible
from t3cen.data.items import Change, Crop, TestItems, TrainItems
from t3cen.data.module import ColorData, Splits
from t3cen.data.photographs import Photographs, middle_square, pictures_below
from t3cen.data.preparation import Recipe
from t3cen.data.randomness import permutation
from t3cen.data.shifts import Fixed, Multiples, Uniform
from t3cen.data.transforms import Flip, ResizedCropFlip

TRAIN, VALIDATION, TEST = ("train", "training"), ("val", "valid", "validation"), ("test", "testing")
CROPS = ("none", "flip", "resized")
LEAST = 3
"""Images of a class that is split by seed: one each for training, validation and tests."""


def fake(root: Path) -> None:
    """Three classes with 12 pictures each, of every mode."""
    rng = np.random.default_rng(17)
    for label, name in enumerate(("bar", "beam", "line")):
        for number in range(12):
            photo(root / "folder" / name / f"{number:02d}.jpg", rng, label, MODES[number % len(MODES)])


@DATA_SETS.register
class Folder(ColorData):
    """Images in `<root>/<class>/`, split by `split_seed`, or in `<root>/{train,val,test}/<class>/`; `val` may be missing.

    Every file that Pillow reads is an image, in folders below a class's too. Pictures are turned by their EXIF orientation,
    scaled to `image_size` along the shorter side, and cut to the middle square.

    Besides the unshifted test set, `vanilla`, there are two of each axis. `hue` draws any hue for each picture, `saturation`
    and `luminance` are lowered by `reduction`. `hue_steps`, `saturation_steps` and `luminance_steps` are moved by whole steps
    of a group of that `order`, drawn for each picture, saturation and luminance folded at the ends of the range.

    Args:
        folder: where the images lie below `root`.
        classes: names of the classes in the order of their labels; None is all folders, by name.
        test_fraction: share of each class's pictures set aside for tests, where there is no `test` folder.
        crop: what is random in training: `none`, `flip`, or `resized`, a part of 8 to 100 % of the picture, mirrored or not.
        reduction: by how much saturation or luminance is lowered; in (0, 1].
        order: of the groups that the steps belong to; at least 2.
        content: `t3cen.experiments.content.content` of the folder for which a run was composed; "" takes any.
        others: see `ColorData`.

    Raises:
        ValueError: an argument out of its range.
        DataError: at `setup` or when `class_names` are asked for: no such folder, no class folders or one only, a class
            without a picture, another content.
    """

    name = "folder"
    native_size = 128
    sized_sources = ("files",)
    test_names: tuple[str, ...] = (
        "vanilla", "hue", "saturation", "luminance", "hue_steps", "saturation_steps", "luminance_steps",
    )  # fmt: skip
    recipes = (Recipe("folder", "your own images: one folder a class below ROOT/folder", fake, options={"folder": "folder"}),)
    previews: ClassVar[dict[str, dict[str, Any]]] = {"folder": {"folder": "folder"}}

    def __init__(
        self,
        *,
        folder: str = "",
        classes: Sequence[str] | None = None,
        test_fraction: float = 0.2,
        crop: str = "flip",
        reduction: float = 0.5,
        order: int = 4,
        content: str = "",
        validation_fraction: float = 0.1,
        **common: Any,
    ) -> None:
        super().__init__(validation_fraction=validation_fraction, **common)
        for what, share in {"test_fraction": test_fraction, "reduction": reduction}.items():
            if not 0 < share <= 1:
                raise ValueError(f"{what} must be in (0, 1], got {share}")
        if crop not in CROPS:
            raise ValueError(f"crop must be one of {', '.join(CROPS)}, got {crop!r}")
        if order < 2:
            raise ValueError(f"order must be at least 2, got {order}")
        self.folder, self.classes, self.content = self.root / folder, classes, content
        self.test_fraction, self.crop, self.reduction, self.order = test_fraction, crop, reduction, order

    @cached_property
    def class_names(self) -> Sequence[str]:  # type: ignore[override]
        if self.classes is not None:
            return tuple(self.classes)
        folder = self._part(TRAIN) or self.folder
        if not folder.is_dir():
            told = f"no folder {folder.absolute()}; data.root=PATH names one that holds a folder of images for each class"
            raise MissingData(told, "the folder of images", str(folder.absolute()))
        found = tuple(path.name for path in visible(folder) if path.is_dir())
        if len(found) > 1:
            return found
        has = f"one class folder only ({found[0]})" if found else "no class folders"
        raise DataError(f"{folder.absolute()} holds {has}; put the images into two folders or more, named as their classes")

    def prepare(self) -> Splits:
        train, test = self._part(TRAIN), self._part(TEST)
        if (train is None) != (test is None):
            lacking, there = ("test", "train") if test is None else ("train", "test")
            raise DataError(
                f"{self.folder.absolute()} has a folder {there!r} but no {lacking!r}; it needs both or neither (a class of that "
                "name needs another one)"
            )
        if train is None or test is None:
            source = self._read(self.folder, LEAST)
            learn, tested, test_source = *self._split(source.labels), source
        else:
            source, test_source = self._read(train), self._read(test)
            learn, tested = torch.arange(len(source)), torch.arange(len(test_source))
        hold_source, validation = source, self._part(VALIDATION) if train else None
        if validation is None:
            learn, hold = self.hold_out(learn)
        else:
            hold_source = self._read(validation)
            hold = torch.arange(len(hold_source))
        learn = self.shorten(learn, self.train_size)
        hold, tested = self.shorten(hold, self.test_size), self.shorten(tested, self.test_size)
        crop: Crop | None = {"none": None, "flip": Flip(), "resized": ResizedCropFlip(self.image_size)}[self.crop]
        view = middle_square(self.image_size)
        changes = self._changes()
        return Splits(
            train=TrainItems(source, learn, crop, self.augmentation, self.seed, None if self.crop == "resized" else view),
            validation={name: TestItems(hold_source, hold, view=view) for name in self.validation_names},
            test={
                name: TestItems(test_source, tested, changes.get(name), self.split_seed + number, view)
                for number, name in enumerate(self.test_names)
            },
            provenance={"class_names": list(self.class_names), "content": self._content(), "folder": str(self.folder.absolute())},
        )

    def _part(self, names: Sequence[str]) -> Path | None:
        return next((self.folder / name for name in names if (self.folder / name).is_dir()), None)

    def _content(self) -> str:
        from t3cen.experiments.content import content

        found = content(self.folder)
        if self.content not in ("", found):
            raise DataError(
                f"the files in {self.folder.absolute()} are not those this run was begun with (content {found}, "
                f"{self.content} expected); bring them back, or train anew with the same command"
            )
        return found

    def _read(self, folder: Path, least: int = 1) -> Photographs:
        """The pictures of one part, of which every class has some."""
        names = list(self.class_names)
        paths, labels = list[Path](), list[int]()
        if foreign := [path.name for path in visible(folder) if path.is_dir() and path.name not in names]:
            raise DataError(f"{folder.absolute()} has a folder {foreign[0]!r}, which is no class; classes are {', '.join(names)}")
        for label, name in enumerate(names):
            found = pictures_below(folder / name)
            if len(found) < least:
                needed = (
                    f"{least} are needed, one each for training, validation and tests" if least > 1 else "at least 1 is needed"
                )
                raise DataError(f"the class folder {(folder / name).absolute()} holds {len(found)} images; {needed}")
            paths += found
            labels += [label] * len(found)
        return Photographs(self.name, paths, labels)

    def _split(self, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Training and test pictures, `test_fraction` of each class for tests, at least one, at most all but two."""
        learn, tested = [], []
        for label in range(self.num_classes):
            members = (labels == label).nonzero().flatten()
            members = members[permutation(len(members), self.split_seed, 2, label)]
            count = min(max(1, round(self.test_fraction * len(members))), len(members) - 2)
            tested.append(members[:count])
            learn.append(members[count:])
        return torch.cat(learn).sort().values, torch.cat(tested).sort().values

    def _changes(self) -> dict[str, Change]:
        # one step of a double cover with `order` sheets is 1 / order turns, or 2 / order of the range, folded at its ends
        turn, value, last = 1 / self.order, 2 / self.order, self.order - 1
        return {
            "hue": Uniform(hue=(0, 1)),
            "saturation": Fixed(saturation=-self.reduction, mode=self.shift_mode),
            "luminance": Fixed(luminance=-self.reduction, mode=self.shift_mode),
            "hue_steps": Multiples(hue=(turn, 1, last)),
            "saturation_steps": Multiples(saturation=(value, 1, last), mode="fold"),
            "luminance_steps": Multiples(luminance=(value, 1, last), mode="fold"),
        }
