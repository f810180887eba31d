"""What every data set has in common: sets by name, loaders, and the order in which items are drawn."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from t3cen.data.errors import DataError
from t3cen.data.fakes import FAKE_MARK
from t3cen.data.files import StoredPictures
from t3cen.data.items import Augmentation, Change, PictureAugmentation, TestItems
from t3cen.data.labels import check_labels
from t3cen.data.preparation import Recipe
from t3cen.data.randomness import permutation
from t3cen.data.samplers import EpochOrder, Share, TrainLoader
from t3cen.data.splits import Splits, fingerprint

log = logging.getLogger(__name__)
SHIFT_MODES = ("clip", "fold", "scale")


class ColorData(pl.LightningDataModule):
    """A data set with its colour-shifted tests; subclasses write `prepare`, and say in class attributes what they are.

    Items are `(image, label)`: float32 RGB `(3, H, W)` in [0, 1], never normalised, and an int. With an augmentation of
    several views, training images are tuples of such.

    Args:
        root: folder of all data sets.
        source: where the pictures come from, one of the class's `sources`.
        batch_size: training items of one optimisation step, over all processes.
        test_batch_size: items of a validation or test batch, per process.
        num_workers: loader processes; items do not depend on it.
        seed: decides the order and the augmentation, nothing else.
        image_size: height and width, where it can be chosen; None is the data set's own.
        train_size, test_size: at most so many training items, and items in each validation and test set; None is all.
        validation_fraction: share of the training pictures set aside for validation.
        split_seed: decides every split and every drawn test shift; fixed, apart from `seed`.
        shift_mode: what "reduced by" means at the ends of the range, see `t3cen.data.shifts`.
        augmentation: called as `augmentation(uint8 image, generator)` for each training item.
        start_method: how workers are started, "fork", "spawn" or "forkserver"; None is Python's choice.

    Attributes:
        name, class_names, sources, native_size: what it is, where its pictures come from, and their height and width.
        sized_sources: the sources whose pictures can have any `image_size`.
        published: numbers of pictures of the whole published set, as `compare` is given them.
        training_images: how many of them a whole epoch trains on, where that is not `published["train"]`.
        recipes: how its files are got and faked.
        previews: pictures to draw of it, by their name in `conf/data`, with the arguments they need; one of its own name
            unless told.
        preview_saturation: whether a preview shows the distribution of saturation beside each row.
        num_classes, image_size, mean, std, validation_names, test_names: known before any file is read.
        provenance: after `setup`, where the pictures came from, with sizes and the split seed.

    Raises:
        ValueError: an argument out of its range.
        DataError: at `setup`, when files are missing or broken.
    """

    name: str
    class_names: Sequence[str]
    sources: ClassVar[tuple[str, ...]] = ("files",)
    native_size: ClassVar[int]
    published: ClassVar[Mapping[str, int]] = {}
    training_images: ClassVar[int | None] = None
    recipes: ClassVar[tuple[Recipe, ...]] = ()
    previews: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    preview_saturation: ClassVar[bool] = False
    sized_sources: ClassVar[tuple[str, ...]] = ()
    mean: ClassVar[tuple[float, float, float]] = (0.5, 0.5, 0.5)
    std: ClassVar[tuple[float, float, float]] = (0.5, 0.5, 0.5)
    validation_names: tuple[str, ...] = ("validation",)
    test_names: tuple[str, ...] = ("test",)

    def __init__(
        self,
        *,
        root: str | Path = "data",
        source: str = "files",
        batch_size: int = 128,
        test_batch_size: int = 256,
        num_workers: int = 0,
        seed: int = 0,
        image_size: int | None = None,
        train_size: int | None = None,
        test_size: int | None = None,
        validation_fraction: float = 0.05,
        split_seed: int = 2026,
        shift_mode: str = "clip",
        augmentation: Augmentation | None = None,
        start_method: str | None = None,
    ) -> None:
        super().__init__()
        if source not in self.sources:
            raise ValueError(f"{self.name} has no source {source!r}; choose from {', '.join(self.sources)}")
        if shift_mode not in SHIFT_MODES:
            raise ValueError(f"shift_mode must be one of {', '.join(SHIFT_MODES)}, got {shift_mode!r}")
        for what, value in {"batch_size": batch_size, "test_batch_size": test_batch_size}.items():
            if value < 1:
                raise ValueError(f"{what} must be at least 1, got {value}")
        for what, size in {"train_size": train_size, "test_size": test_size, "image_size": image_size}.items():
            if size is not None and size < 1:
                raise ValueError(f"{what} must be at least 1 or None, got {size}")
        if not 0 <= validation_fraction < 1:
            raise ValueError(f"validation_fraction must be in [0, 1), got {validation_fraction}")
        if image_size not in (None, self.native_size) and source not in self.sized_sources:
            raise ValueError(
                f"{self.name} from {source} has pictures of {self.native_size} pixels only, got image_size={image_size}"
            )
        self.root, self.source = Path(root), source
        self.batch_size, self.test_batch_size, self.num_workers = batch_size, test_batch_size, num_workers
        self.seed, self.split_seed = seed, split_seed
        self.image_size = image_size or self.native_size
        self.train_size, self.test_size, self.validation_fraction = train_size, test_size, validation_fraction
        self.shift_mode, self.augmentation, self.start_method = shift_mode, augmentation, start_method
        if validation_fraction == 0:
            self.validation_names = tuple(name for name in self.validation_names if name != "validation")
        self._splits: Splits | None = None
        self._added: dict[str, Change] = {}
        self._loader: TrainLoader | None = None
        self._position: dict[str, int] | None = None

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @property
    def is_fake(self) -> bool:
        """Whether the files are the small stand-ins that `prepare_data.py --fake` writes."""
        return self.source == "files" and (self.root / FAKE_MARK).exists()

    @abstractmethod
    def prepare(self) -> Splits:
        """Read or make the pictures and form the sets. Called once per process, when first needed."""

    def preview(self, count: int) -> dict[str, Tensor]:
        """Pictures to show it by: at least `count` of the training set and, at the same places, of each test set, in [0, 1]."""
        splits = self.splits
        view = getattr(next(iter(splits.test.values())), "view", None)
        shown = {"training": TestItems(splits.train.source, splits.train.indices, view=view), **splits.test}  # type: ignore[attr-defined]
        return {
            name: torch.stack([items[place][0] for place in torch.linspace(0, len(items) - 1, count).long().tolist()])  # type: ignore[arg-type]
            for name, items in shown.items()
        }

    def add_tests(self, changes: Mapping[str, Change]) -> None:
        """Add test sets by name: the first test set, which must be unshifted, under each of these colour shifts.

        Raises:
            ValueError: a name is taken, or the sets are made already.
        """
        if self._splits is not None:
            raise ValueError(f"{self.name}: the sets are made already; add test sets before they are used")
        taken = sorted(set(changes) & set(self.test_names))
        if taken:
            raise ValueError(f"{self.name} has a test set {taken[0]!r} already")
        self._added |= changes
        self.test_names = (*self.test_names, *changes)

    def _added_tests(self, tests: Mapping[str, Dataset[Any]]) -> dict[str, Dataset[Any]]:
        first = next(iter(tests.values()))
        if self._added and not (isinstance(first, TestItems) and first.change is None):
            raise RuntimeError(f"{self.name}: the first test set is shifted itself; shifts cannot be added to it")
        return {
            name: TestItems(first.source, first.indices, change, self.split_seed + 1000 + number, first.view)  # type: ignore[attr-defined]
            for number, (name, change) in enumerate(self._added.items())
        }

    # -- for subclasses ------------------------------------------------------------------------------------------------

    def hold_out(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Set `validation_fraction` of the given pictures aside, by `split_seed`: (training, validation), each sorted."""
        order = indices[permutation(len(indices), self.split_seed, 1)]
        held = round(self.validation_fraction * len(indices))
        if self.validation_fraction:
            held = max(1, held)
        return order[held:].sort().values, order[:held].sort().values

    def shorten(self, indices: Tensor, size: int | None) -> Tensor:
        """At most `size` of the given pictures, drawn by `split_seed`, in their order; smaller sets are parts of larger."""
        if size is None or size >= len(indices):
            return indices
        return indices[permutation(len(indices), self.split_seed, 2)[:size].sort().values]

    def compare(self, **found: int) -> dict[str, Any]:
        """Compare numbers of pictures with the published ones; for the provenance. An incomplete set is loaded, and told of."""
        wrong = [
            f"{found[part]:,} of {count:,} {part} pictures" for part, count in self.published.items() if found[part] != count
        ]
        if self.is_fake or not wrong:
            return {"complete": not self.is_fake}
        log.warning("%s under %s is not the published data set: it has %s", self.name, self.root.absolute(), ", ".join(wrong))
        return {"complete": False, "incomplete": ", ".join(wrong)}

    # -- loaders -------------------------------------------------------------------------------------------------------

    @property
    def splits(self) -> Splits:
        if self._splits is None:
            made = self.prepare()
            splits = replace(made, test={**made.test, **self._added_tests(made.test)})
            for what, names, sets in (
                ("validation", self.validation_names, splits.validation),
                ("test", self.test_names, splits.test),
            ):
                if tuple(sets) != names:
                    raise RuntimeError(f"{self.name}: {what} sets {tuple(sets)} were made, {names} were announced")
            for what, items in {"training set": splits.train, **splits.validation, **splits.test}.items():
                if len(items) == 0:  # type: ignore[arg-type]
                    raise DataError(f"{self.name}: the {what} is empty; is {self.root.absolute()} complete?")
            for source in splits.sources():
                if hasattr(source, "labels"):  # where labels follow from the number of the picture, there is none to check
                    check_labels(self.name, source.labels, self.num_classes, self.root.absolute())
            self._splits = splits
        return self._splits

    def check(self) -> None:
        """Read every picture that is encoded by itself; arrays are read whole at `setup`.

        Raises:
            DataError: one cannot be read.
        """
        for source in self.splits.sources():
            if isinstance(source, StoredPictures):
                source.check()

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint(self.splits.sets().values())

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the pictures came from: source, sizes and fingerprint of the sets, split seed, and what `prepare` adds.

        Of pictures that an augmentation made, their fingerprint too.
        """
        splits = self.splits
        sets, augmentation = splits.sets(), self.augmentation
        return {
            "name": self.name,
            "source": "fake" if self.is_fake else self.source,
            "image_size": self.image_size,
            "split_seed": self.split_seed,
            "shift_mode": self.shift_mode,
            "sizes": {name: len(items) for name, items in sets.items()},
            "fingerprint": self._fingerprint,
            **({"augmentation": augmentation.fingerprint()} if isinstance(augmentation, PictureAugmentation) else {}),
            **splits.provenance,
        }

    def setup(self, stage: str | None = None) -> None:
        _, processes = self._process()
        for name, items in self.splits.sets().items():
            if len(items) < processes:
                raise ValueError(
                    f"{self.name}: the set {name!r} has {len(items)} items, fewer than the {processes} processes that share it; "
                    f"set trainer.devices to {len(items)} at most"
                )

    def train_dataloader(self) -> TrainLoader:
        rank, processes = self._process()
        items = self.splits.train
        order = EpochOrder(len(items), self.batch_size, self.seed, rank, processes)  # type: ignore[arg-type]
        self._loader = TrainLoader(items, order, **self._options())
        if self._position is not None:
            self._loader.load_state_dict(self._position)
            self._position = None
        return self._loader

    def state_dict(self) -> dict[str, Any]:
        """Where training is within its epoch, for Lightning's checkpoints."""
        if self._loader is None:
            return {}
        length = None if self.trainer is None else int(self.trainer.num_training_batches)  # `limit_train_batches`
        return {"train": self._loader.state_dict(length)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        # Lightning restores a loader only after a schedule has asked for the number of steps, and by then it has begun
        self._position = state_dict.get("train")

    def val_dataloader(self) -> list[DataLoader[Any]]:
        return [self._test_loader(items) for items in self.splits.validation.values()]

    def test_dataloader(self) -> list[DataLoader[Any]]:
        return [self._test_loader(items) for items in self.splits.test.values()]

    def _test_loader(self, items: Dataset[Any]) -> DataLoader[Any]:
        share = Share(len(items), *self._process())  # type: ignore[arg-type]
        return DataLoader(items, batch_size=self.test_batch_size, sampler=share, **self._options())

    def _process(self) -> tuple[int, int]:
        """(rank, number of processes) of distributed training."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
        return 0, 1

    def _options(self) -> dict[str, Any]:
        return {
            "num_workers": self.num_workers,
            "persistent_workers": self.num_workers > 0,
            "pin_memory": torch.cuda.is_available(),
            "multiprocessing_context": self.start_method if self.num_workers else None,
            # a loader draws a number for its workers; without its own generator it would disturb the network's
            "generator": torch.Generator(),
        }
