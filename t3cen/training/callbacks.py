"""What watches a training run: the clock, plain progress lines, signals."""

from __future__ import annotations

import logging
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytorch_lightning as pl

log = logging.getLogger(__name__)

INTERRUPTED = 75
"""Exit status of a run that saved itself and wants to be started again (EX_TEMPFAIL)."""


class Stopwatch(pl.Callback):
    """Seconds spent in training, over all the sittings of a run, and the median time of a step.

    A median of the latest steps, so that the first ones (allocation, compilation) do not count.
    """

    def __init__(self, keep: int = 200) -> None:
        self.seconds = 0.0
        self.steps: list[float] = []
        self._keep = keep
        self._since = time.perf_counter()
        self._step_since = self._since

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._since = time.perf_counter()

    def on_train_batch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int) -> None:
        self._step_since = time.perf_counter()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self.steps = [*self.steps[1 - self._keep :], time.perf_counter() - self._step_since]

    @property
    def total(self) -> float:
        return self.seconds + time.perf_counter() - self._since

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
            log.info("epoch %d, step %d%s, loss %s", trainer.current_epoch, trainer.global_step, of, f"{loss:.4f}" if loss is not None else "-")


class SaveOnSignal(pl.Callback):
    """On SIGTERM or SIGUSR2 (a cluster's preemption or time-out) save a checkpoint after the step and exit.

    The exit status is `INTERRUPTED`: the run is unfinished, not failed, and goes on from that checkpoint.
    """

    signals = (signal.SIGTERM, signal.SIGUSR2)

    def __init__(self, checkpoint: Path) -> None:
        self.checkpoint = checkpoint
        self._asked: int | None = None
        self._before: dict[int, Any] = {}

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked = number

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        # Here, not in setup: Lightning installs its own handlers between the two.
        self._before = {s: signal.signal(s, self._ask) for s in self.signals}

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self._asked is not None:
            trainer.save_checkpoint(self.checkpoint)
            log.warning("signal %s: saved %s at step %d and stopping", signal.Signals(self._asked).name, self.checkpoint, trainer.global_step)
            raise SystemExit(INTERRUPTED)
