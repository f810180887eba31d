"""What watches a training run: the clock, and progress as a bar or as plain lines."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytorch_lightning as pl
from tqdm import tqdm

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


def _steps(trainer: pl.Trainer) -> int | None:
    """The length of the whole training, where it has one."""
    steps = trainer.estimated_stepping_batches
    return None if steps == float("inf") else int(steps)


class PlainProgress(pl.Callback):
    """One log line every so many seconds, for files and pipes, where a progress bar would only fill them."""

    def __init__(self, every: float = 15.0) -> None:
        self.every = every
        self._next = time.monotonic() + every

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if trainer.is_global_zero and time.monotonic() >= self._next:
            self._next = time.monotonic() + self.every
            loss = float(outputs["loss"])
            log.info(
                "epoch %d, step %d of %s, loss %.4f", trainer.current_epoch, trainer.global_step, _steps(trainer) or "?", loss
            )


class Bar(pl.Callback):
    """One bar for the whole training, however many epochs it has, and one for each pass over validation or test sets."""

    def __init__(self) -> None:
        self._training: tqdm | None = None
        self._passing: tqdm | None = None

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.is_global_zero:
            self._training = tqdm(
                desc="training", total=_steps(trainer), initial=trainer.global_step, unit="step", dynamic_ncols=True
            )

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        # the loss is fetched from its device only when the bar is drawn
        if self._training is not None and self._training.update(trainer.global_step - self._training.n):
            self._training.set_postfix(epoch=trainer.current_epoch, loss=f"{float(outputs['loss']):.4f}", refresh=False)

    def _pass(self, trainer: pl.Trainer, name: str, batches: Any) -> None:
        if trainer.is_global_zero and not trainer.sanity_checking:
            self._passing = tqdm(desc=name, total=int(sum(batches)), unit="batch", dynamic_ncols=True, leave=False, delay=1)

    def _passed(self) -> None:
        if self._passing is not None:
            self._passing.close()
            self._passing = None

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._pass(trainer, "validation", trainer.num_val_batches)

    def on_validation_batch_end(self, *_: Any) -> None:
        if self._passing is not None:
            self._passing.update()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._passed()

    def on_test_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._pass(trainer, "test", trainer.num_test_batches)

    def on_test_batch_end(self, *_: Any) -> None:
        if self._passing is not None:
            self._passing.update()

    def on_test_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._passed()

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self._training is not None:
            self._training.close()
            self._training = None

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        self._passed()
        self.on_train_end(trainer, pl_module)
