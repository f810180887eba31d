"""In what order items are visited: by (seed, epoch), in any number of processes, from any batch on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Sampler

from t3cen.data.randomness import permutation

Draw = tuple[int, int]
"""(epoch, index): an item as it is drawn in one epoch; its augmentation follows from it."""


class EpochOrder(Sampler[list[Draw]]):
    """Batches of `(epoch, index)` for training.

    `batch_size` counts the items of one optimisation step over all processes: process `rank` of `processes` takes
    every `processes`-th item of each batch, so the batches are the same sets however many processes share them.

    Args:
        count: number of items.
        batch_size: items in a batch, over all processes; a multiple of `processes`.
        seed: with the epoch it decides the order.
        rank, processes: the share of this process.

    Attributes:
        epoch: set by `set_epoch`, which Lightning calls.
        start_batch: batches at the beginning of the epoch to leave out, for resuming within it.
    """

    def __init__(self, count: int, batch_size: int, seed: int, rank: int = 0, processes: int = 1) -> None:
        if batch_size % processes:
            raise ValueError(
                f"a batch of {batch_size} cannot be shared equally by {processes} processes; choose a multiple of {processes}"
            )
        self.count, self.batch_size, self.seed = count, batch_size, seed
        self.rank, self.processes = rank, processes
        self.epoch = 0
        self.start_batch = 0

    @property
    def sampler(self) -> EpochOrder:
        """Itself: where Lightning looks for `set_epoch`."""
        return self

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return math.ceil(self.count / self.batch_size)

    def __iter__(self) -> Iterator[list[Draw]]:
        # epoch and start are read now, not when the first batch is asked for
        return self._batches(self.epoch, self.start_batch)

    def _batches(self, epoch: int, start: int) -> Iterator[list[Draw]]:
        order = permutation(self.count, self.seed, epoch)
        # every process must take part in the last step: repeat the first items where its share would be uneven
        missing = -self.count % self.processes
        drawn = torch.cat([order, order[:missing]]).tolist()
        for batch in range(start, len(self)):
            items = drawn[batch * self.batch_size : (batch + 1) * self.batch_size]
            yield [(epoch, index) for index in items[self.rank :: self.processes]]


class Share(Sampler[int]):
    """Items `rank, rank + processes, ...` of a test set: together the processes visit every item exactly once."""

    def __init__(self, count: int, rank: int = 0, processes: int = 1) -> None:
        self.indices = range(rank, count, processes)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices)


class TrainLoader(DataLoader[Any]):
    """A DataLoader over an `EpochOrder` that can be saved and resumed within an epoch.

    `state_dict` counts the batches handed out, not those that workers fetched ahead; Lightning stores it in its
    checkpoints and gives it back before the first epoch after a restart.
    """

    def __init__(self, dataset: Any, order: EpochOrder, **options: Any) -> None:
        super().__init__(dataset, batch_sampler=order, **options)
        self.order = order
        self._at = (0, 0)

    def state_dict(self, length: int | None = None) -> dict[str, int]:
        """The epoch and the batch that come next, in epochs of `length` batches, or of all."""
        epoch, batch = self._at
        if batch >= (length or len(self)):
            epoch, batch = epoch + 1, 0
        return {"epoch": epoch, "batch": batch}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.order.set_epoch(state["epoch"])
        self.order.start_batch = state["batch"]
        self._at = (state["epoch"], state["batch"])

    def __iter__(self) -> Any:
        self._at = (self.order.epoch, self.order.start_batch)
        batches = super().__iter__()
        self.order.start_batch = 0  # the next epoch begins at its beginning; loaders ask their sampler more than once
        return self._counted(batches)

    def _counted(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            epoch, done = self._at
            self._at = (epoch, done + 1)
            yield batch
