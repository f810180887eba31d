"""Lightning's Trainer for one run: settings that are fixed, and settings refused because a run could not resume exactly."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.loggers import Logger
from pytorch_lightning.plugins.environments import ClusterEnvironment, LightningEnvironment, SLURMEnvironment
from pytorch_lightning.utilities.exceptions import MisconfigurationException

from t3cen.training.callbacks import Bar

REFUSED = {
    "sync_batchnorm": "would take the group for the channels of group batch norms",
    "overfit_batches": "would replace the order of the training items",
    "fast_dev_run": "trains next to nothing and keeps no checkpoint; scale=smoke is the short run",
    "barebones": "would leave out checkpoints and logs",
    "reload_dataloaders_every_n_epochs": "would lose the place in the epoch that a stopped run goes on from",
}
"""Settings of Lightning's Trainer that a run cannot have, and why."""


def compiled(settings: Mapping[str, Any]) -> bool:
    """Whether training compiles its network: `+trainer.compile=true`, the one setting there that is not Lightning's.

    Raises:
        ValueError: neither true nor false.
    """
    if not isinstance(compile := settings.get("compile", False), bool):
        raise ValueError(f"trainer.compile must be true or false, got {compile!r}")
    return compile


def make_trainer(
    settings: Mapping[str, Any],
    folder: Path,
    callbacks: list[pl.Callback],
    *,
    batches: int,
    loggers: list[Logger],
    deterministic: bool | str,
) -> pl.Trainer:
    """A trainer that leaves checkpoints to `callbacks`, signals to this process and requeueing to the launcher.

    Args:
        settings: `trainer` of a composed configuration.
        folder: of the run.
        batches: training batches of an epoch.
        loggers: where metrics go.
        deterministic: of Lightning's Trainer.

    Raises:
        ValueError: a setting that a run cannot have.
    """
    own: dict[str, Any] = {
        "default_root_dir": folder,
        "logger": loggers,
        "callbacks": [Bar(), *callbacks],
        "plugins": _environment(settings),
        "enable_progress_bar": False,  # Lightning's, one for each epoch
        "enable_checkpointing": True,  # by `Checkpoints`
        "enable_model_summary": False,
        "num_sanity_val_steps": 0,
        "use_distributed_sampler": False,
        "deterministic": deterministic,
    }
    for key, why in REFUSED.items():
        if settings.get(key):
            raise ValueError(f"trainer.{key}={settings[key]} {why}; leave it out")
    if taken := sorted(own.keys() & settings.keys()):
        raise ValueError(f"trainer.{taken[0]} is set by the project itself; leave it out")
    if not isinstance(settings.get("val_check_interval"), int | float | None):
        raise ValueError(
            f"trainer.val_check_interval={settings['val_check_interval']!r} is a time, after which a stopped run would validate "
            "at other steps; give a number of batches or a share of an epoch"
        )
    lightnings = {key: value for key, value in settings.items() if key != "compile"}
    try:
        return pl.Trainer(**{"log_every_n_steps": min(50, batches), **lightnings}, **own)
    except (MisconfigurationException, TypeError) as error:
        raise ValueError(_told(settings, error)) from error


def _environment(settings: Mapping[str, Any]) -> list[ClusterEnvironment] | None:
    """SLURM's, where it started the processes of a run of several; one process is alone, whatever SLURM counts."""
    if not SLURMEnvironment.detect():
        return None
    if str(settings.get("devices", 1)) == "1" and settings.get("num_nodes", 1) == 1:
        return [LightningEnvironment()]
    return [SLURMEnvironment(auto_requeue=False)]


def _told(settings: Mapping[str, Any], error: Exception) -> str:
    """What Lightning does not accept, with the key it is about where that can be told."""
    said = " ".join(str(error).split()).rstrip(".!")
    if "unexpected keyword argument" in said:
        return f"trainer.{said.split()[-1].strip(chr(39))} is no setting of Lightning's Trainer; leave it out"
    if "backend found" in said or "accelerator" in said.lower():
        there = "this machine has no such device that works"
        return f"trainer.accelerator={settings.get('accelerator')}: {there} ({said}); use trainer.accelerator=auto, or cpu"
    return f"trainer: {said}"
