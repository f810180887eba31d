"""Checkpoints, from which a run that was stopped or killed goes on exactly where it was."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor

from t3cen.training import sealed
from t3cen.training.outcome import LAST, PREVIOUS
from t3cen.training.signals import Stopped, asked, stop_if_asked, waited

log = logging.getLogger(__name__)

IDENTITY = "config_hash"
PATIENCE = 20.0
"""Seconds that a request to stop waits for a validation to end; then the run stops and repeats the steps since its checkpoint."""


class Checkpoints(pl.callbacks.Checkpoint):
    """Saves `last.ckpt` now and then, and when asked to stop; keeps the weights of least validation error in it.

    One file holds all a resumed run needs, the best weights included, so that nothing in it can be of another time. It is
    replaced in one move, and its predecessor stays as `previous.ckpt`. Lightning calls it after all other callbacks, so that
    their states in the file are of the same moment.

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
        self._random: dict[str, Tensor] = {}
        self._saved = time.monotonic()
        self._step = 0
        self._stepped = False
        self._due = False
        self._ended = False

    # -- what is saved -------------------------------------------------------------------------------------------------

    def save(self, trainer: pl.Trainer) -> None:
        """Write `last.ckpt` now; every process of the run must call it."""
        new = self.folder / f".{LAST}"
        self._ended |= trainer.should_stop  # an `EarlyStopping` has seen enough
        try:
            trainer.save_checkpoint(new)
            if trainer.is_global_zero:
                sealed.seal(new)
                if (self.folder / LAST).exists():
                    os.replace(self.folder / LAST, self.folder / PREVIOUS)
                os.replace(new, self.folder / LAST)
        finally:
            if trainer.is_global_zero:
                new.unlink(missing_ok=True)  # on a full disk, room for the reason
        self._saved, self._due = time.monotonic(), False

    def save_trained(self, trainer: pl.Trainer) -> None:
        """Save the end of training, so that a run stopped while it is tested need not train again, nor on."""
        self._ended = True
        self.save(trainer)
        if trainer.world_size == 1:
            stop_if_asked()

    def on_save_checkpoint(self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]) -> None:
        checkpoint[IDENTITY] = self.identity

    def state_dict(self) -> dict[str, Any]:
        random = {"cpu": torch.get_rng_state()}
        if torch.cuda.is_available():
            random["cuda"] = torch.cuda.get_rng_state()
        return {"best": self.best, "random": random, "ended": self._ended}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best, self._random, self._ended = state_dict["best"], state_dict["random"], state_dict["ended"]

    # -- when ----------------------------------------------------------------------------------------------------------

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._saved, self._step = time.monotonic(), trainer.global_step
        trainer.should_stop |= self._ended
        if "cpu" in self._random:
            torch.set_rng_state(self._random["cpu"].cpu())
        if "cuda" in self._random and torch.cuda.is_available():
            torch.cuda.set_rng_state(self._random["cuda"].cpu())

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self._stepped, self._step = trainer.global_step != self._step, trainer.global_step
        if not self._stepped:
            return  # gradients that are summed over several batches are in no checkpoint
        late = time.monotonic() - self._saved >= 60 * self.minutes
        self._due |= trainer.global_step % self.steps == 0 if self.steps else late
        if not (_at_end(trainer) or _validates_after(trainer, batch_idx)):
            self._save_if_due(trainer)
        # Else after that validation, or at the end of the epoch: Lightning resumes exactly between batches, not between a batch
        # and its validation.

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self._stepped and trainer.global_step != trainer.max_steps and trainer.current_epoch + 1 != trainer.max_epochs:
            self._save_if_due(trainer)

    def on_load_checkpoint(self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]) -> None:
        # Where the length of training is given in steps, Lightning takes a finished epoch for one that was broken off.
        setattr(trainer.fit_loop, "_iteration_based_training", lambda: False)  # noqa: B010

    def on_validation_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        if trainer.world_size > 1:
            return
        if trainer.state.fn != "fit":  # the end of training is saved
            stop_if_asked()
        elif (number := asked()) and waited() > PATIENCE:
            log.warning("%s came during a validation that takes long", Stopped(number))
            raise Stopped(number)

    def on_test_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        if trainer.world_size == 1:
            stop_if_asked()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self.monitor is not None and not trainer.sanity_checking:
            error = float(trainer.callback_metrics[self.monitor])
            if self.best is None or error < self.best["error"]:
                weights = {name: value.detach().cpu().clone() for name, value in pl_module.state_dict().items()}
                self.best = {"error": error, "step": trainer.global_step, "weights": weights}
        if trainer.state.fn == "fit" and self._stepped and not _at_end(trainer):
            self._save_if_due(trainer)

    def _save_if_due(self, trainer: pl.Trainer) -> None:
        if trainer.should_stop and trainer.fit_loop._can_stop_early:
            return  # training ends here, which is saved
        number, due = asked(), self._due
        if trainer.world_size > 1:  # processes are asked at different steps, and their clocks differ
            together = trainer.strategy.reduce(
                torch.tensor([number or 0, due], device=trainer.strategy.root_device), reduce_op="max"
            )
            number, due = int(together[0]) or None, bool(together[1])
        if due or number is not None:
            self.save(trainer)
        if number is not None:
            log.warning("%s: saved step %d in %s", Stopped(number), trainer.global_step, self.folder / LAST)
            raise Stopped(number)


def _at_end(trainer: pl.Trainer) -> bool:
    """Whether the batch that was trained is the last one of its epoch or of all."""
    return trainer.fit_loop.epoch_loop.batch_progress.is_last_batch or trainer.global_step == trainer.max_steps


def _validates_after(trainer: pl.Trainer, batch_idx: int) -> bool:
    """Whether a validation follows this batch within its epoch."""
    every, epochs = trainer.val_check_batch, trainer.check_val_every_n_epoch
    if not every or not trainer.enable_validation or (epochs and (trainer.current_epoch + 1) % epochs):
        return False
    batch = batch_idx if epochs else trainer.fit_loop.epoch_loop.total_batch_idx
    return (batch + 1) % every == 0


def resume_point(folder: Path, identity: str) -> Path | None:
    """The newest whole checkpoint in `folder` that is of the run `identity`, with a warning about each that is not."""
    for path in (folder / LAST, folder / PREVIOUS):
        if not path.exists():
            continue
        try:
            found = sealed.load(path).get(IDENTITY)
        except (sealed.DamagedFile, OSError) as error:
            log.warning("%s; it is left out", error)
            continue
        if found == identity:
            return path
        log.warning("%s is of another configuration; the run starts anew", path)
        return None
    return None
