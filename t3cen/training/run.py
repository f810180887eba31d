"""One run: composed configuration in, a folder with a complete `result.json` out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from hydra.utils import instantiate
from pytorch_lightning.callbacks import ModelCheckpoint, TQDMProgressBar
from pytorch_lightning.plugins.environments import SLURMEnvironment

from t3cen.data.module import ColorData
from t3cen.data.shifts import step_jitter
from t3cen.models import build
from t3cen.models.network import Network
from t3cen.results.identity import config_hash
from t3cen.task import BatchAugment, Classification
from t3cen.training import cost, provenance
from t3cen.training.callbacks import PlainProgress, SaveOnSignal, Stopwatch
from t3cen.training.files import only_writer, write_json
from t3cen.training.loggers import loggers
from t3cen.training.schedule import schedule

log = logging.getLogger(__name__)

RESULT = "result.json"
SCHEMA = 1


def run(config: Mapping[str, Any], folder: Path, overrides: list[str]) -> Path:
    """Train and test what `config` describes, unless `folder` already holds its result.

    Args:
        config: the resolved configuration (see conf/train.yaml).
        folder: where checkpoints, metrics and the result go; one process at a time.
        overrides: what the command line changed, for the record.

    Returns:
        the path of `result.json`. A run that was interrupted goes on from its last checkpoint.

    Raises:
        RunInProgress: another process is at work on this folder.
    """
    with only_writer(folder):
        result = folder / RESULT
        if result.exists():
            log.info("%s is finished: %s", config["name"], result)
            return result
        write_json(folder / "config.json", config)
        record = _train_and_test(config, folder)
        write_json(result, {**record, "overrides": overrides})
        (folder / "failure.json").unlink(missing_ok=True)
        return result


def make_data(config: Mapping[str, Any]) -> ColorData:
    """The data module of a composed configuration."""
    return instantiate(config["data"], augmentation=instantiate(config["augment"]))


def make_network(config: Mapping[str, Any], data: ColorData) -> Network:
    """The network of a composed configuration, its weights a function of the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config["seed"])
        return build(config["backbone"], num_classes=data.num_classes, mean=data.mean, std=data.std, **config["model"])


def make_task(config: Mapping[str, Any], data: ColorData, network: Network) -> Classification:
    """The training task of a composed configuration."""
    return Classification(
        network,
        optimizer=instantiate(config["optimizer"]),
        scheduler=schedule(config["scheduler"]),
        loss=instantiate(config["loss"]),
        batch_augment=_step_jitter(network, config["model"]["cover"]) if config["step_jitter"] else None,
        seed=config["seed"],
        validation_names=data.validation_names,
        test_names=data.test_names,
    )


def _checkpoint_interval(every: Mapping[str, Any]) -> dict[str, Any]:
    if every["steps"]:
        return {"every_n_train_steps": every["steps"]}
    return {"train_time_interval": timedelta(minutes=every["minutes"])}


def _best(selection: str, data: ColorData, folder: Path) -> ModelCheckpoint | None:
    """The checkpoint of least error on the validation set called `selection`; None for the last weights."""
    if selection == "last":
        return None
    if selection not in data.validation_names:
        raise ValueError(f"selection is {selection!r}; choose 'last' or a validation set: {', '.join(data.validation_names)}")
    monitor = f"validation/{selection}/error"
    return ModelCheckpoint(folder, filename="best", monitor=monitor, mode="min", enable_version_counter=False)


def _step_jitter(network: Network, cover: str) -> BatchAugment:
    return partial(step_jitter, group=network.lifting.group, cover=cover)


def _train_and_test(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    started = datetime.now(UTC)
    pl.seed_everything(config["seed"], verbose=False)
    data = make_data(config)
    network = make_network(config, data)
    task = make_task(config, data, network)
    checkpoints = folder / "checkpoints"
    last = ModelCheckpoint(
        checkpoints, filename="last", enable_version_counter=False, **_checkpoint_interval(config["checkpoint_every"])
    )
    best = _best(config["selection"], data, checkpoints)
    stopwatch = Stopwatch()
    resume = checkpoints / "last.ckpt"
    trainer = pl.Trainer(
        **config["trainer"],
        default_root_dir=folder,
        logger=loggers(folder, config),
        callbacks=[
            stopwatch,
            last,
            *([best] if best else []),
            SaveOnSignal(resume),
            TQDMProgressBar() if sys.stderr.isatty() else PlainProgress(),
        ],
        plugins=[SLURMEnvironment(auto_requeue=False)] if SLURMEnvironment.detect() else None,
        enable_progress_bar=sys.stderr.isatty(),
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        deterministic=config["deterministic"],
    )
    if resume.exists():
        log.info("going on from %s", resume)
    trainer.fit(task, data, ckpt_path=str(resume) if resume.exists() else None)
    if trainer.interrupted:
        raise KeyboardInterrupt
    trainer.save_checkpoint(checkpoints / "final.ckpt")
    if best is not None:
        task.load_state_dict(torch.load(best.best_model_path, map_location="cpu", weights_only=True)["state_dict"])
    trainer.test(task, data, verbose=False)
    device = trainer.strategy.root_device
    return {
        "schema": SCHEMA,
        "status": "finished",
        "name": config["name"],
        "scale": config["scale"],
        "seed": config["seed"],
        "metrics": task.results,
        "selection": config["selection"],
        "config": config,
        "config_hash": config_hash(config),
        **provenance.code_version(),
        "versions": provenance.library_versions(),
        "device": provenance.device_name(device),
        "data_provenance": data.provenance,
        "parameters": cost.parameters(network),
        "macs": cost.macs(network, (data.image_size, data.image_size), device=next(network.parameters()).device),
        "peak_memory_bytes": cost.peak_memory(device),
        "wall_seconds": stopwatch.total,
        "step_seconds": stopwatch.step_seconds,
        "steps": trainer.global_step,
        "epochs": trainer.current_epoch,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
