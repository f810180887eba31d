"""What watches a training run: the clock and plain progress lines."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytorch_lightning as pl

log = logging.getLogger(__name__)


class Stopwatch(pl.Callback):
    """Seconds spent in training, over all the sittings of a run, and the median time of a step.

    A median of the latest steps, so that the first ones (allocation, compilation) do not count.
    """

    def __init__(self, keep: int = 200) -> None:
        self.seconds = 0.0
        self.steps: list[float] = []
        self._keep = keep
        self._since: float | None = None
        self._step_since = 0.0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._since = time.perf_counter()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.seconds, self._since = self.total, None

    def on_train_batch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int) -> None:
        self._step_since = time.perf_counter()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.steps = [*self.steps[1 - self._keep :], time.perf_counter() - self._step_since]

    @property
    def total(self) -> float:
        return self.seconds + (time.perf_counter() - self._since if self._since is not None else 0.0)

    @property
    def step_seconds(self) -> float:
        ordered = sorted(self.steps)
        return ordered[len(ordered) // 2] if ordered else 0.0

    def state_dict(self) -> dict[str, Any]:
        return {"seconds": self.total, "steps": self.steps}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.seconds, self.steps = state_dict["seconds"], state_dict["steps"]


class PlainProgress(pl.Callback):
    """One log line every so many seconds, for files and pipes, where a progress bar would only fill them."""

    def __init__(self, every: float = 15.0) -> None:
        self.every = every
        self._next = time.monotonic() + every

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self.every
            loss = trainer.callback_metrics.get("train/loss")
            of = f"/{int(trainer.estimated_stepping_batches)}" if trainer.estimated_stepping_batches != float("inf") else ""
            log.info(
                "epoch %d, step %d%s, loss %s",
                trainer.current_epoch,
                trainer.global_step,
                of,
                f"{loss:.4f}" if loss is not None else "-",
            )
