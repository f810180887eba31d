"""Camelyon17: patches of stained lymph nodes from five hospitals, tested on a hospital that was not trained on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from t3cen.data import DATA_SETS
from t3cen.data.camelyon_synthetic import HOSPITALS, patch
from t3cen.data.camelyon_table import check_table
from t3cen.data.errors import DataError, broken, missing
from t3cen.data.files import FileSource
from t3cen.data.items import ArraySource, Source, TestItems, TrainItems
from t3cen.data.module import ColorData, Splits
from t3cen.data.preparation import DOWNLOADS, Recipe, get_parquet
from t3cen.data.randomness import permutation
from t3cen.data.transforms import Flip, Resize

TRAIN_HOSPITALS = (0, 3, 4)
PROTOCOLS = {"paper": {"ood": 2, "test": 1}, "wilds": {"ood": 1, "test": 2}}
"""The hospital, counted from 0, of the out-of-distribution validation and of the test set."""
FOLDER = "camelyon17_v1.0"


def get(root: Path) -> None:
    from t3cen.data.camelyon_import import HUB, import_parquet

    get_parquet(HUB, root / DOWNLOADS / "camelyon")
    import_parquet(root / DOWNLOADS / "camelyon", root)


def fake(root: Path) -> None:
    """24 patches of each hospital, RGBA as the real ones, four of each training hospital held out."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "RELEASE_v1.0.txt").touch()
    lines = [",patient,node,x_coord,y_coord,tumor,slide,center,split"]
    for row in range(5 * 24):
        center, number = divmod(row, 24)
        patient, node, x, y = f"{20 * center + 4:03d}", number % 5, 96 * number, 960
        pixels, label = patch(center, number, 96, seed=0)
        place = folder / "patches" / f"patient_{patient}_node_{node}"
        place.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0))).convert("RGBA")
        image.save(place / f"patch_patient_{patient}_node_{node}_x_{x}_y_{y}.png")
        lines.append(f"{row},{patient},{node},{x},{y},{label},{10 * center + number % 10},{center},{int(number >= 20)}")
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")


@DATA_SETS.register
class Camelyon(ColorData):
    """Camelyon17-WILDS (paper, appendix "Camelyon17"): normal or tumour tissue, 96 x 96.

    Trained on hospitals 0, 3 and 4 (WILDS' training part). Validation sets: `id`, WILDS' held-out tenth of the training
    hospitals, and `ood`, a hospital of its own. Test set: `test`, another one. Which is which is the `protocol`:

    * `paper`: validation on hospital 2, test on hospital 1, as the paper's text has it;
    * `wilds`: validation on hospital 1, test on hospital 2, as the benchmark (and the predecessor's code) has it.

    Weights are chosen by the configuration's `selection`: `last` in the paper's protocol, `ood` by the benchmark's rules.

    Args:
        protocol: `paper` or `wilds`.
        source: `files`, `<root>/camelyon17_v1.0` through wilds; `synthetic`, drawn patches at any `image_size`.
        patches: with `synthetic`, patches of each hospital.
        flip: mirror training patches at random; off, as in the predecessor's published code.
        others: see `ColorData`; `validation_fraction` has no meaning here but with `synthetic`, where it is the share of `id`.
    """

    name = "camelyon"
    class_names = ("normal", "tumor")
    sources = ("files", "synthetic")
    sized_sources = ("files", "synthetic")
    native_size = 96
    published: ClassVar[dict[str, int]] = {"all": 455_954}
    training_images = 302_436
    recipes = (
        Recipe(
            "camelyon",
            "Camelyon17-WILDS from its copy at Hugging Face, about 10 GB and as much again when imported, CC0 "
            "(its own host has been down); files already here: --parquet FOLDER",
            fake,
            get,
        ),
    )
    previews: ClassVar[Mapping[str, Mapping[str, Any]]] = {"camelyon": {"patches": 200}}
    preview_saturation = True
    validation_names = ("id", "ood")
    test_names = ("test",)

    def __init__(self, *, protocol: str = "paper", patches: int = 1000, flip: bool = False, **common: Any) -> None:
        super().__init__(**{"validation_fraction": 0.1, **common})
        if protocol not in PROTOCOLS:
            raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}")
        if patches < 10:
            raise ValueError(f"patches must be at least 10, got {patches}")
        self.protocol, self.patches, self.flip = protocol, patches, flip

    def prepare(self) -> Splits:
        hospitals = PROTOCOLS[self.protocol]
        source, center, inside = self.patches_by_hospital()
        trained = torch.isin(center, torch.tensor(TRAIN_HOSPITALS))
        rows = {
            "train": (trained & ~inside).nonzero()[:, 0],
            "id": (trained & inside).nonzero()[:, 0],
            **{name: (center == hospital).nonzero()[:, 0] for name, hospital in hospitals.items()},
        }
        for name, indices in rows.items():
            if len(indices) == 0:
                raise DataError(f"{self.name}: no patch for the set {name} under {(self.root / FOLDER).absolute()}")
        view = None if self.source == "synthetic" else Resize(self.image_size)
        tests = {name: TestItems(source, self.shorten(rows[name], self.test_size), view=view) for name in ("id", "ood", "test")}
        crop = Flip() if self.flip else None
        learn = self.shorten(rows["train"], self.train_size)
        train = TrainItems(source, learn, crop, self.augmentation, self.seed, view)
        return Splits(
            train=train,
            validation={name: tests[name] for name in self.validation_names},
            test={"test": tests["test"]},
            provenance={
                "protocol": self.protocol,
                "hospitals": {"train": TRAIN_HOSPITALS, "id": TRAIN_HOSPITALS, **hospitals},
                **(self.compare(all=len(source)) if self.source == "files" else {}),
            },
        )

    def preview(self, count: int) -> dict[str, Tensor]:
        """Patches of each of the five hospitals, in [0, 1]: 40 and more, for the distribution of their saturation."""
        source, center, _ = self.patches_by_hospital()
        rows = {}
        for hospital in range(len(HOSPITALS)):
            places = (center == hospital).nonzero()[:, 0]
            chosen = places[torch.linspace(0, len(places) - 1, max(count, 40)).long()].tolist()
            rows[f"hospital {hospital}"] = torch.stack([source.picture(place).float() / 255 for place in chosen])
        return rows

    def patches_by_hospital(self) -> tuple[Source, Tensor, Tensor]:
        """All patches, the hospital of each `(N,)`, and which of them WILDS holds out of training `(N,)`."""
        return self._synthetic() if self.source == "synthetic" else self._wilds()

    def _synthetic(self) -> tuple[Source, Tensor, Tensor]:
        drawn = [
            patch(hospital, index, self.image_size, self.split_seed)
            for hospital in range(len(HOSPITALS))
            for index in range(self.patches)
        ]
        images = torch.from_numpy(np.stack([image for image, _ in drawn]))
        center = torch.arange(len(HOSPITALS)).repeat_interleave(self.patches)
        inside = torch.zeros(len(center), dtype=torch.bool)
        held = max(2, round(self.validation_fraction * len(center)))
        inside[permutation(len(center), self.split_seed, 1)[:held]] = True
        return ArraySource(images, [label for _, label in drawn]), center, inside

    def _wilds(self) -> tuple[Source, Tensor, Tensor]:
        data = read_wilds(self.root)
        folder = Path(data.data_dir)
        source = FileSource(self.name, [folder / path for path in data._input_array], data.y_array, self.native_size)
        return source, data.metadata_array[:, 0], torch.from_numpy(np.array(data.split_array)) == data.split_dict["id_val"]


def read_wilds(root: Path) -> Any:
    """wilds' `Camelyon17Dataset` of the files under `root`; nothing is downloaded.

    Raises:
        DataError: a file is missing, or its table is not that of the benchmark (`check_table`).
    """
    folder = root / FOLDER
    for file in ("metadata.csv", "patches", "RELEASE_v1.0.txt"):
        if not (folder / file).exists():
            raise missing("camelyon", file, folder / file, ["synthetic"])
    table = folder / "metadata.csv"
    check_table(table)

    from wilds.datasets.camelyon17_dataset import Camelyon17Dataset

    with warnings.catch_warnings():
        # wilds makes tensors of columns that pandas 3 protects, and does not write to them; its groups are not used here
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        warnings.filterwarnings("ignore", message="Minimum metadata value for CombinatorialGrouper")
        try:
            data = Camelyon17Dataset(root_dir=str(root), download=False)
        except (ValueError, KeyError, TypeError) as error:
            raise broken("camelyon", table, f"cannot be read by wilds ({type(error).__name__}: {error})") from error
    return data


def write_predictions(folder: Path, split: str, seed: int, predictions: Tensor) -> Path:
    """Write predicted labels as the WILDS leaderboard wants them: one number a line, in the order of the set.

    Args:
        folder: where to; made if needed.
        split: `id_val`, `val` or `test`.
        seed: of the run.
        predictions: `(N,)` whole numbers, in the order of `id`, `ood` or `test` of `Camelyon(protocol="wilds")`.

    Raises:
        ValueError: another split, or not one number per patch.
    """
    if split not in ("id_val", "val", "test"):
        raise ValueError(f"split must be id_val, val or test, got {split!r}")
    if predictions.ndim != 1 or predictions.is_floating_point():
        raise ValueError(f"predictions must be labels (N,), got {predictions.dtype} {tuple(predictions.shape)}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"camelyon17_split:{split}_seed:{seed}_epoch:best_pred.csv"
    path.write_text("".join(f"{label}\n" for label in predictions.tolist()))
    return path
