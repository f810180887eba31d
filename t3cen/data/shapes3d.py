"""3D Shapes with shifted hue, saturation, or all of HSL: rooms with one object, to be told by its shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from t3cen.data import DATA_SETS
from t3cen.data.checksums import checksum
from t3cen.data.download import Remote, fetch
from t3cen.data.errors import missing
from t3cen.data.items import Change, Source, TestItems, TrainItems, to_float
from t3cen.data.module import ColorData, Splits
from t3cen.data.preparation import Recipe
from t3cen.data.randomness import generator, permutation
from t3cen.data.shapes3d_files import FILE, SHA256, H5Shapes, UnpackedShapes, check, unpacked, write
from t3cen.data.shapes3d_render import SHAPES, RenderedShapes
from t3cen.data.shifts import Multiples, Uniform, shift
from t3cen.data.transforms import Flip

WARM, COLD = range(5), range(5, 10)
BLOCKS = {"A": (WARM, WARM, WARM), "B": (COLD, COLD, COLD), "C": (WARM, WARM, COLD)}
"""Numbers of floor, wall and object hue in each block of 60,000 images (paper, appendix "Hue Shift 3D Shapes")."""
VARIANTS = {"hue": ("A", "B", "C"), "saturation": ("A", "B", "C"), "hsl": ("A", "B", "steps")}
PUBLISHED = Remote(
    ("https://storage.googleapis.com/3d-shapes/3dshapes.h5",),
    267_573_662,
    sha256=SHA256,
)


def get(root: Path) -> None:
    fetch(PUBLISHED, root / FILE)


def fake(root: Path) -> None:
    """A file of full shape: the images that runs of up to 64 training and 16 test images use are drawn, all others black."""
    used = Shapes3D(source="rendered", train_size=64, test_size=16).rows()
    write(root / FILE, torch.cat(list(used.values())).tolist())


def block_rows(block: str) -> Tensor:
    """Numbers of the 60,000 images of block A, B or C in the whole data set, ascending; int64."""
    hues = torch.tensor(np.stack([axis.ravel() for axis in np.meshgrid(*BLOCKS[block], indexing="ij")], -1))
    starts = (hues * torch.tensor([48000, 4800, 480])).sum(-1)
    return (starts[:, None] + torch.arange(480)).flatten()


@dataclass(frozen=True)
class PartsShift:
    """Floor, walls, object and sky each lose a saturation of their own, uniform in [0, 1] (the caption's "component-wise")."""

    mode: str = "clip"

    def __call__(self, image: Tensor, parts: Tensor, rng: torch.Generator) -> Tensor:
        amounts = -torch.rand(4, generator=rng)
        return shift(image, saturation=amounts[parts], mode=self.mode)


class PartsItems(Dataset[tuple[Tensor, int]]):
    """Test items whose parts are shifted apart; rendered images only, where the parts are known."""

    def __init__(self, source: RenderedShapes, indices: Tensor, change: PartsShift, seed: int) -> None:
        self.source, self.indices, self.change, self.seed = source, indices, change, seed

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        at = int(self.indices[index])
        image = to_float(self.source.picture(at))
        return self.change(image, self.source.parts(at), generator(self.seed, at)), self.source.label(at)


@DATA_SETS.register
class Shapes3D(ColorData):
    """3D Shapes (paper, appendices "Hue Shift", "Saturation Shift" and "Hue-Saturation-Luminance Shift 3D Shapes").

    The training set and test set `A` are parts, 80 to 20, of the 60,000 images whose hues are all warm (0-4). The label is the
    shape. Training images are mirrored at random, as in the predecessor's published code.

    * `variant="hue"`: `B` has cold hues (5-9) throughout, `C` a cold object among warm floor and walls; the same places in
      the blocks are test images in all three.
    * `variant="saturation"`: the images of `A`; in `B` saturation is lowered by k * 0.125, k drawn from 1..7 for each image, in
      `C` by an amount uniform in [0, 1]. (Colours are fully saturated, so saturation can only fall.) With rendered images also
      `C_parts`: floor, walls, object and sky each lowered by an amount of their own.
    * `variant="hsl"`: the images of `A`; in `B` hue, saturation and luminance are shifted by amounts uniform in `hue_shift`
      (turns), `saturation_shift` and `luminance_shift`, one each per image; in `steps` by whole steps of order 4 (hue k/4,
      saturation and luminance -.5, 0 or .5), the shifts for which T3CEN-H4S4L4 is built.

    Args:
        variant: `hue`, `saturation` or `hsl`.
        source: `files`, `<root>/3dshapes.h5`; `rendered`, drawn by our ray caster, at any `image_size`.
        flip: mirror training images at random.
        hue_shift, saturation_shift, luminance_shift: ranges of `B` in the hsl variant.
        others: see `ColorData`.
    """

    name = "shapes3d"
    class_names = SHAPES
    sources = ("files", "rendered")
    sized_sources = ("rendered",)
    native_size = 64
    training_images = 48_000
    recipes = (
        Recipe(
            "shapes3d",
            "3D Shapes, 268 MB, Apache-2.0; 2.2 GB more when its blocks are unpacked at first use",
            fake,
            get,
            files={FILE: PUBLISHED},
        ),
    )
    previews: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "shapes3d_hue": {"variant": "hue"},
        "shapes3d_sat": {"variant": "saturation"},
        "shapes3d_hsl": {"variant": "hsl", "shift_mode": "fold"},
    }

    def __init__(
        self,
        *,
        variant: str = "hue",
        flip: bool = True,
        hue_shift: tuple[float, float] = (0.0, 1.0),
        saturation_shift: tuple[float, float] = (-0.5, 0.5),
        luminance_shift: tuple[float, float] = (-0.5, 0.5),
        **common: Any,
    ) -> None:
        super().__init__(**common)
        if variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
        self.variant, self.flip = variant, flip
        self.test_names = VARIANTS[variant]
        if variant == "saturation" and self.source == "rendered":
            self.test_names = (*self.test_names, "C_parts")
        self.ranges = {
            name: (float(bounds[0]), float(bounds[1]))
            for name, bounds in (("hue", hue_shift), ("saturation", saturation_shift), ("luminance", luminance_shift))
        }

    def prepare(self) -> Splits:
        sources, rows = self._sources(), self.rows()
        base = sources["A"]
        tests: dict[str, Dataset[Any]] = {"A": TestItems(base, rows["A"])}
        if self.variant == "hue":
            tests |= {block: TestItems(sources[block], rows[block]) for block in ("B", "C")}
        for number, (name, change) in enumerate(self._changes().items()):
            tests[name] = TestItems(base, rows["A"], change, seed=self.split_seed + number)
        if "C_parts" in self.test_names:
            assert isinstance(base, RenderedShapes)
            tests["C_parts"] = PartsItems(base, rows["A"], PartsShift(self.shift_mode), self.split_seed)
        return Splits(
            train=TrainItems(base, rows["train"], Flip() if self.flip else None, self.augmentation, self.seed),
            validation={name: TestItems(base, rows["validation"]) for name in self.validation_names},
            test=tests,
            provenance={"variant": self.variant, **(self._compared() if self.source == "files" else {"file": None})},
        )

    def rows(self) -> dict[str, Tensor]:
        """Numbers in the whole data set of the images of each set: `train`, `validation`, and `A`, `B`, `C` of the test."""
        order = permutation(60_000, self.split_seed, 0)
        learn, hold = self.hold_out(order[:48_000].sort().values)
        tested = self.shorten(order[48_000:].sort().values, self.test_size)
        blocks = {block: block_rows(block) for block in BLOCKS}
        return {
            "train": blocks["A"][self.shorten(learn, self.train_size)],
            "validation": blocks["A"][self.shorten(hold, self.test_size)],
            **{block: rows[tested] for block, rows in blocks.items()},
        }

    def _changes(self) -> dict[str, Change]:
        if self.variant == "saturation":
            return {
                "B": Multiples(saturation=(-0.125, 1, 7), mode=self.shift_mode),
                "C": Uniform(saturation=(-1.0, 0.0), mode=self.shift_mode),
            }
        if self.variant == "hsl":
            steps = Multiples(hue=(0.25, 0, 3), saturation=(0.5, -1, 1), luminance=(0.5, -1, 1), mode=self.shift_mode)
            return {"B": Uniform(**self.ranges, mode=self.shift_mode), "steps": steps}
        return {}

    def _compared(self) -> dict[str, Any]:
        """The file, and whether it is the published one; for the provenance."""
        known: dict[str, Any] = {"file": FILE, "complete": self._digest == SHA256}
        if not known["complete"]:
            known["incomplete"] = f"{FILE} has SHA-256 {self._digest}, {SHA256} is published"
        return known

    def _sources(self) -> dict[str, Source]:
        blocks = tuple(BLOCKS) if self.variant == "hue" else ("A",)
        if self.source == "rendered":
            return dict.fromkeys(blocks, RenderedShapes(self.image_size))
        path = self.root / FILE
        if not path.is_file():
            raise missing(self.name, FILE, path, ["rendered"])
        check(path)
        self._digest = checksum(path, "sha256")
        file = H5Shapes(path)
        if file.runs_quickly():
            return dict.fromkeys(blocks, file)
        sources: dict[str, Source] = {}
        for block in blocks:
            # the published file is compressed across images, so that one image costs as much as thousands
            rows = block_rows(block)
            sources[block] = UnpackedShapes(unpacked(path, self._digest, block, rows), rows)
        return sources
