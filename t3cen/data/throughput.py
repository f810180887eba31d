"""How many training images a second a data set can deliver."""

from __future__ import annotations

import time

from t3cen.data.module import ColorData


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
