"""Callbacks of a run: the clock, and progress."""

from __future__ import annotations

import time
from typing import Any

import pytorch_lightning as pl

from t3cen.progress import Progress


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


class Bar(pl.Callback):
    """Progress of the whole training, however many epochs it has, and of each pass over validation or test sets.

    What training says of itself: the epoch, the loss and, once it was validated, the error on each validation set.
    """

    def __init__(self) -> None:
        self._training: Progress | None = None
        self._passing: Progress | None = None
        self._says: dict[str, Any] = {}

    def _said(self) -> dict[str, str]:
        # the loss is fetched from its device only when it is shown
        shown = {**self._says, "loss": f"{float(self._says['loss']):.4f}"} if "loss" in self._says else self._says
        return {key: str(value) for key, value in shown.items()}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.is_global_zero:
            self._training = Progress(
                "training", total=_steps(trainer), initial=trainer.global_step, unit="step", says=self._said
            )

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self._training is not None:
            self._says |= {"epoch": trainer.current_epoch, "loss": outputs["loss"]}
            self._training.update(trainer.global_step - self._training.n)

    def _pass(self, trainer: pl.Trainer, name: str, batches: Any) -> None:
        if trainer.is_global_zero and not trainer.sanity_checking:
            self._passing = Progress(name, total=int(sum(batches)), unit="batch", leave=False, delay=1)

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
        for key, value in trainer.callback_metrics.items():
            if key.startswith("validation/") and key.endswith("/error"):
                name = key.split("/")[1]
                self._says[f"{name} error"] = f"{100 * float(value):.2f} %"

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
