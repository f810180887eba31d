"""Where a run goes on from when it was stopped or killed: exactly where it was."""

from __future__ import annotations

import logging
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor

from t3cen.training.signals import Stopped, Watch

log = logging.getLogger(__name__)

LAST, PREVIOUS, FINAL = "last.ckpt", "previous.ckpt", "final.ckpt"
IDENTITY = "config_hash"
PATIENCE = 20.0
"""Seconds that a request to stop waits for a validation to end; then the run stops and repeats the steps since its checkpoint."""
_UNREADABLE = (RuntimeError, EOFError, OSError, pickle.UnpicklingError, KeyError, ValueError)


class Checkpoints(pl.Callback):
    """Saves `last.ckpt` now and then, and when asked to stop; keeps the weights of least validation error in it.

    One file holds all a resumed run needs, the best weights included, so that nothing in it can be of another time. It is
    replaced in one move, and its predecessor stays as `previous.ckpt`.

    Args:
        folder: of the checkpoints.
        identity: of the run; a checkpoint of another identity is not gone on from.
        minutes, steps: how often; `steps`, if given, counts alone.
        monitor: the logged validation error by which weights are best, or None.

    Attributes:
        best: `error`, `step` and `weights` of the best validation so far, or None.
    """

    def __init__(self, folder: Path, identity: str, *, minutes: float, steps: int | None, monitor: str | None) -> None:
        for name, value in {"minutes": minutes, "steps": steps}.items():
            if value is not None and value <= 0:
                raise ValueError(f"checkpoint_every.{name} must be positive, got {value}")
        self.folder, self.identity, self.minutes, self.steps, self.monitor = folder, identity, minutes, steps, monitor
        self.best: dict[str, Any] | None = None
        self.watch = Watch()
        self._random: dict[str, Tensor] = {}
        self._saved = time.monotonic()
        self._due = False

    # -- what is saved -------------------------------------------------------------------------------------------------

    def save(self, trainer: pl.Trainer) -> None:
        """Write `last.ckpt` now; every process of the run must call it."""
        new = self.folder / f".{LAST}"
        trainer.save_checkpoint(new)
        if trainer.is_global_zero:
            with new.open("rb") as file:
                os.fsync(file.fileno())
            if (self.folder / LAST).exists():
                os.replace(self.folder / LAST, self.folder / PREVIOUS)
            os.replace(new, self.folder / LAST)
        self._saved, self._due = time.monotonic(), False

    def save_trained(self, trainer: pl.Trainer) -> None:
        """Save the end of training, so that a run stopped while it is tested need not train again."""
        self.save(trainer)
        if self.watch.asked is not None:
            raise Stopped(self.watch.asked)

    def on_save_checkpoint(self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]) -> None:
        checkpoint[IDENTITY] = self.identity

    def state_dict(self) -> dict[str, Any]:
        random = {"cpu": torch.get_rng_state()}
        if torch.cuda.is_available():
            random["cuda"] = torch.cuda.get_rng_state()
        return {"best": self.best, "random": random}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best, self._random = state_dict["best"], state_dict["random"]

    # -- when ----------------------------------------------------------------------------------------------------------

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        # Here, not in setup: Lightning installs its own handlers between the two.
        self.watch.on()
        self._saved = time.monotonic()
        if "cpu" in self._random:
            torch.set_rng_state(self._random["cpu"].cpu())
        if "cuda" in self._random and torch.cuda.is_available():
            torch.cuda.set_rng_state(self._random["cuda"].cpu())

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.watch.off()

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        self.watch.off()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        late = time.monotonic() - self._saved >= 60 * self.minutes
        self._due |= trainer.global_step % self.steps == 0 if self.steps else late
        if not (trainer.fit_loop.epoch_loop.batch_progress.is_last_batch or trainer.global_step == trainer.max_steps):
            self._save_if_due(trainer)
        # Else a batch later: Lightning resumes exactly within an epoch, not between its last batch and its validation, and
        # after the validation only where the length of training is given in epochs. Epochs of one batch have no within.

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        one_batch, in_epochs = trainer.num_training_batches == 1, trainer.max_steps == -1
        if one_batch and in_epochs and trainer.current_epoch + 1 != trainer.max_epochs:
            self._save_if_due(trainer)

    def on_validation_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        if trainer.world_size == 1 and self.watch.asked is not None and self.watch.waited > PATIENCE:
            log.warning("%s came during a validation that takes long", signal_name(self.watch.asked))
            raise Stopped(self.watch.asked)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self.monitor is not None and not trainer.sanity_checking:
            error = float(trainer.callback_metrics[self.monitor])
            if self.best is None or error < self.best["error"]:
                weights = {name: value.detach().cpu().clone() for name, value in pl_module.state_dict().items()}
                self.best = {"error": error, "step": trainer.global_step, "weights": weights}

    def _save_if_due(self, trainer: pl.Trainer) -> None:
        asked, due = self.watch.asked, self._due
        if trainer.world_size > 1:  # processes are asked at different steps, and their clocks differ
            together = trainer.strategy.reduce(
                torch.tensor([asked or 0, due], device=trainer.strategy.root_device), reduce_op="max"
            )
            asked, due = int(together[0]) or None, bool(together[1])
        if due or asked is not None:
            self.save(trainer)
        if asked is not None:
            log.warning("%s: saved step %d in %s", signal_name(asked), trainer.global_step, self.folder / LAST)
            raise Stopped(asked)


def signal_name(number: int) -> str:
    return str(Stopped(number))


def resume_point(folder: Path, identity: str) -> Path | None:
    """The newest checkpoint in `folder` that can be read and is of the run `identity`, with a warning about each that is not."""
    for path in (folder / LAST, folder / PREVIOUS):
        if not path.exists():
            continue
        try:
            found = torch.load(path, map_location="cpu", weights_only=True)[IDENTITY]
        except _UNREADABLE as error:
            log.warning("%s cannot be read (%s) and is left out", path, str(error).splitlines()[0] if str(error) else type(error))
            continue
        if found == identity:
            return path
        log.warning("%s is of another configuration; the run starts anew", path)
        return None
    return None
