"""From stored pictures to the items a network sees: (float32 image in [0, 1], label)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.utils.data import Dataset

from t3cen.data.labels import whole_numbers
from t3cen.data.randomness import generator
from t3cen.data.samplers import Draw

Augmentation = Callable[[Tensor, torch.Generator], Any]
"""(uint8 image (3, H, W), generator) -> float32 image (3, H, W) in [0, 1], or a tuple of such views."""
Crop = Callable[[Tensor, torch.Generator], Tensor]
"""(uint8 image, generator) -> uint8 image: where randomness of place and mirror image is decided."""
View = Callable[[Tensor], Tensor]
"""(uint8 image) -> uint8 image: the fixed place and size that validation and tests look at."""
Change = Callable[[Tensor, torch.Generator], Tensor]
"""(float32 RGB image in [0, 1], generator) -> the same: a colour shift of a test set."""


class Source(Protocol):
    """Stored pictures: `picture(i)` is a uint8 RGB tensor (3, H, W), `label(i)` an int; both random access and picklable.

    One that can tell quickly that any of its pictures is another has a method `stored(indices)`, which gives bytes.
    """

    def __len__(self) -> int: ...

    def picture(self, index: int) -> Tensor: ...

    def label(self, index: int) -> int: ...


@runtime_checkable
class PictureAugmentation(Protocol):
    """An augmentation of stored pictures: before any crop, it may put another one in the place of the original."""

    def check(self, pictures: Source, indices: Tensor) -> None:
        """Raise if it cannot serve these training pictures."""

    def fingerprint(self) -> str:
        """After `check`: what tells its pictures from ones made anew, a part of what the data of a run are."""

    def picture(self, original: Tensor, index: int, generator: torch.Generator) -> Tensor:
        """The picture to go on with, uint8 (3, H, W)."""


class ArraySource:
    """Pictures held in memory.

    Args:
        images: uint8 (N, 3, H, W).
        labels: N whole numbers.
    """

    def __init__(self, images: Tensor, labels: Sequence[int] | Tensor) -> None:
        if images.dtype != torch.uint8 or images.ndim != 4 or images.shape[1] != 3:
            raise ValueError(f"images must be uint8 (N, 3, H, W), got {images.dtype} {tuple(images.shape)}")
        self.labels = whole_numbers(labels)
        if len(self.labels) != len(images):
            raise ValueError(f"{len(self.labels)} labels for {len(images)} images")
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def picture(self, index: int) -> Tensor:
        return self.images[index]

    def stored(self, indices: Tensor) -> Iterator[bytes]:
        yield self.images[indices].numpy().tobytes()

    def label(self, index: int) -> int:
        return int(self.labels[index])


def to_float(picture: Tensor) -> Tensor:
    """uint8 0..255 to float32 [0, 1]."""
    return picture.to(torch.float32).div_(255)


class TrainItems(Dataset[Any]):
    """Training items, drawn as `items[(epoch, index)]`.

    Args:
        source: where pictures come from.
        indices: which of them are training pictures.
        crop: random place, size and mirror image, or None.
        augmentation: from uint8 to one or several float images, or None.
        seed: with epoch and index it decides both.
        view: a fixed crop or size, before all but an augmentation of stored pictures, or None.
    """

    def __init__(
        self,
        source: Source,
        indices: Tensor,
        crop: Crop | None,
        augmentation: Augmentation | None,
        seed: int,
        view: View | None = None,
    ) -> None:
        self.source, self.indices = source, indices
        self.crop, self.augmentation, self.seed, self.view = crop, augmentation, seed, view
        if isinstance(augmentation, PictureAugmentation):
            augmentation.check(source, indices)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, draw: Draw | int) -> tuple[Any, int]:
        epoch, index = draw if isinstance(draw, tuple) else (0, draw)
        at = int(self.indices[index])
        picture = self.source.picture(at)
        if self.crop is None and self.augmentation is None:
            return to_float(picture if self.view is None else self.view(picture)), self.source.label(at)
        # keyed by the stored picture, so that an augmentation does not change when the training set is cut shorter
        rng = generator(self.seed, epoch, at)
        if isinstance(self.augmentation, PictureAugmentation):
            picture = self.augmentation.picture(picture, at, rng)
        if self.view is not None:
            picture = self.view(picture)
        if self.crop is not None:
            picture = self.crop(picture, rng)
        image = to_float(picture) if self.augmentation is None else self.augmentation(picture, rng)
        return image, self.source.label(at)


class TestItems(Dataset[tuple[Tensor, int]]):
    """Validation or test items, `items[index]`, the same at every visit.

    Args:
        source: where pictures come from.
        indices: which of them belong to this set.
        change: a colour shift, or None; its generator depends on (`seed`, picture) alone.
        seed: fixed with the split, not the seed of a run.
        view: a fixed crop or size, or None.
    """

    __test__ = False

    def __init__(
        self, source: Source, indices: Tensor, change: Change | None = None, seed: int = 0, view: View | None = None
    ) -> None:
        self.source, self.indices, self.change, self.seed, self.view = source, indices, change, seed, view

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        at = int(self.indices[index])
        picture = self.source.picture(at)
        image = to_float(picture if self.view is None else self.view(picture))
        if self.change is not None:
            image = self.change(image, generator(self.seed, at))
        return image, self.source.label(at)
