"""How many training images a second a data set can deliver."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from t3cen.data.module import ColorData
from t3cen.data.pictures import data_set

BATCH = {"mnist": 128, "mnist_angle": 128, "shapes3d_hue": 128, "shapes3d_sat": 128, "shapes3d_hsl": 128, "camelyon": 32}
BATCH |= {"cifar10": 128, "cifar100": 128}
"""The paper's batch sizes; all others have 16."""


class Speed(NamedTuple):
    """One measurement: `setup` in seconds, `rate` in training images per second."""

    name: str
    source: str
    image_size: int
    batch_size: int
    workers: int
    setup: float
    rate: float


def images_per_second(data: ColorData, seconds: float = 3.0) -> float:
    """Training images a second through the loader, once it runs: workers are started before the clock is.

    Args:
        data: a data set with at least two batches; its training set is gone through as often as needed.
        seconds: how long to measure.
    """
    loader = data.train_dataloader()
    seen, epoch, start, end = 0, 0, 0.0, 0.0
    while True:
        loader.order.set_epoch(epoch)
        for _, labels in loader:
            if start == 0.0:
                start = time.perf_counter()
                continue
            seen += len(labels)
            end = time.perf_counter()
            if end - start > seconds:
                return seen / (end - start)
        epoch += 1


def measure(names: Sequence[str], workers: Sequence[int] = (0, 2), seconds: float = 3.0, **options: Any) -> Iterator[Speed]:
    """Measure data sets, named as in `conf/data`, at the paper's batch size and resolution.

    Args:
        names: data sets.
        workers: numbers of loader processes.
        seconds: for each measurement.
        options: for `t3cen.data.pictures.data_set`: `root`, `source`, `image_size`, ...
    """
    for name in names:
        for count in workers:
            began = time.perf_counter()
            data = data_set(name, num_workers=count, batch_size=BATCH.get(name, 16), **options)
            data.setup()
            setup = time.perf_counter() - began
            rate = images_per_second(data, seconds)
            source = "fake" if data.is_fake else data.source
            yield Speed(name, source, data.image_size, data.batch_size, count, setup, rate)
