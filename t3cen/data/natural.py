"""What the six natural image sets share: the original test set and the two with less saturation and less luminance."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor

from t3cen.data.errors import DataError
from t3cen.data.items import Change, Crop, Source, TestItems, TrainItems, View
from t3cen.data.module import ColorData, Splits
from t3cen.data.shifts import Fixed
from t3cen.data.transforms import PadCropFlip, ResizeCenter, ResizedCropFlip


class Parts(NamedTuple):
    """The published training and test pictures, and which of them to use (None: all)."""

    train: Source
    test: Source
    train_indices: Tensor | None = None
    test_indices: Tensor | None = None


class NaturalData(ColorData):
    """A natural image set, tested as it is (`vanilla`) and with `saturation` and `luminance` reduced.

    Source: paper, Tables "Generalization to color shift" and appendix "Dataset and Implementation Details". Whether a reduced
    value is cut off, folded or scaled is `shift_mode`, see `t3cen.data.shifts`.

    Args:
        reduction: by how much saturation or luminance is lowered.
        others: see `ColorData`.
    """

    test_names: tuple[str, ...] = ("vanilla", "saturation", "luminance")
    mean = (0.4914, 0.4822, 0.4465)
    std = (0.2023, 0.1994, 0.2010)

    def __init__(self, *, reduction: float = 0.5, **common: Any) -> None:
        super().__init__(**common)
        if not 0 < reduction <= 1:
            raise ValueError(f"reduction must be in (0, 1], got {reduction}")
        self.reduction = reduction

    @abstractmethod
    def read(self) -> Parts:
        """The published training and test pictures."""

    @abstractmethod
    def crop(self) -> Crop:
        """What is random in training."""

    def view(self) -> View | None:
        """What validation and tests look at; None is the whole picture."""
        return None

    def prepare(self) -> Splits:
        parts = self.read()
        train = torch.arange(len(parts.train)) if parts.train_indices is None else parts.train_indices
        test = torch.arange(len(parts.test)) if parts.test_indices is None else parts.test_indices
        for what, source in {"training": parts.train, "test": parts.test}.items():
            if len(source) == 0:
                raise DataError(f"{self.name}: there are no {what} pictures under {self.root.absolute()}")
        learn, hold = self.hold_out(train)
        learn, hold, test = (
            self.shorten(learn, self.train_size),
            self.shorten(hold, self.test_size),
            self.shorten(test, self.test_size),
        )
        reduced: dict[str, Change] = {
            "saturation": Fixed(saturation=-self.reduction, mode=self.shift_mode),
            "luminance": Fixed(luminance=-self.reduction, mode=self.shift_mode),
        }
        return Splits(
            train=TrainItems(parts.train, learn, self.crop(), self.augmentation, self.seed),
            validation={name: TestItems(parts.train, hold, view=self.view()) for name in self.validation_names},
            test={name: TestItems(parts.test, test, reduced.get(name), view=self.view()) for name in self.test_names},
            provenance={"reduction": self.reduction, **self.compare(train=len(parts.train), test=len(parts.test))},
        )


class SmallNatural(NaturalData):
    """Pictures of one small size: padded by 4, cropped and mirrored at random in training."""

    def crop(self) -> Crop:
        return PadCropFlip(padding=4)


class LargeNatural(NaturalData):
    """Photographs: in training a random resized crop, mirrored at random; in tests the middle after scaling to 256.

    256 is the shorter side for an `image_size` of 224; other sizes keep the proportion.
    """

    native_size = 224
    sized_sources = ("files",)

    def crop(self) -> Crop:
        return ResizedCropFlip(self.image_size)

    def view(self) -> View | None:
        return ResizeCenter(round(self.image_size * 256 / 224), self.image_size)
