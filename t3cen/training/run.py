"""One run: composed configuration in, a folder with a complete `result.json` out."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from hydra.utils import instantiate
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from t3cen.data.between import between_steps
from t3cen.data.light_shifts import light_shifts
from t3cen.data.module import ColorData
from t3cen.data.shifts import line_step_jitter, step_jitter
from t3cen.experiments import record as records
from t3cen.experiments.identity import config_hash
from t3cen.groups import ColorGroup
from t3cen.models import build
from t3cen.models.network import Network
from t3cen.nn import LCERLifting
from t3cen.task import BatchAugment, Classification
from t3cen.training import cost, final, provenance
from t3cen.training.allocator import keep_freed_memory
from t3cen.training.callbacks import Stopwatch
from t3cen.training.checkpoints import Checkpoints, resume_point
from t3cen.training.files import only_writer, write_json
from t3cen.training.loggers import file_loggers, mirror
from t3cen.training.mirror import Mirror
from t3cen.training.outcome import CHECKPOINTS, CONFIG, FAILURE, REFUSED, RESULT, outcome, tidy
from t3cen.training.plan import Job
from t3cen.training.schedule import schedule
from t3cen.training.signals import keep_held, stop_if_asked
from t3cen.training.sittings import sit_down
from t3cen.training.trainer import compiled, make_trainer

log = logging.getLogger(__name__)


def run(job: Job) -> Path:
    """Train and test what `job` describes, unless its folder already holds its result.

    Returns:
        the path of `result.json`. A run that was interrupted goes on from its last checkpoint.

    Raises:
        RunInProgress: another process is at work on this folder.
        ValueError: the folder holds the result of another configuration, a setting is out of its range, or training ended
            before the length it was given (`+trainer.max_time`).
        Stopped: this process was asked to stop.
    """
    config, folder = job.config, job.folder
    result = folder / RESULT
    if rank_zero_only.rank:  # type: ignore[attr-defined]  # one of several processes of a run; the first one holds the folder
        if outcome(folder, config).state not in ("done", "stale"):
            _train_and_test(config, folder, None)
        return result
    with only_writer(folder):
        tidy(folder)
        found = outcome(folder, config)
        if found.state == "stale":
            raise ValueError(f"{found.reason}; move that folder away, or delete it, to train the run again")
        if found.state == "done":
            log.info("%s is finished and is not trained again", job.title)
            return result
        if result.exists():  # no record of this run, see `records.read`
            log.warning("%s is refused, kept as %s, and the run is trained again", result, result.replace(folder / REFUSED).name)
        (folder / FAILURE).unlink(missing_ok=True)
        write_json(folder / CONFIG, config)
        copy = mirror(folder, config)
        record = None
        try:
            record = _train_and_test(config, folder, copy)
        finally:
            if copy is not None:
                copy.finish(record)
        write_json(result, records.sealed({**record, "overrides": list(job.overrides)}))
        tidy(folder)
        return result


def make_data(config: Mapping[str, Any]) -> ColorData:
    """The data module of a composed configuration, with the test sets `data.between` and `data.light` ask for."""
    options = {key: value for key, value in config["data"].items() if key not in ("between", "light")}
    data: ColorData = instantiate(options, augmentation=instantiate(config["augment"]))
    if config["data"].get("between"):
        data.add_tests(between_steps(config["data"]["between"]))
    if config["data"].get("light"):
        data.add_tests(light_shifts())
    return data


def make_network(config: Mapping[str, Any], data: ColorData) -> Network:
    """The network of a composed configuration, its weights a function of the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config["seed"])
        return build(config["backbone"], **network_arguments(config, data))


def network_arguments(config: Mapping[str, Any], data: ColorData) -> dict[str, Any]:
    """Arguments of `t3cen.models.build` beside the name, as plain values."""
    return {"num_classes": data.num_classes, "mean": list(data.mean), "std": list(data.std), **config["model"]}


def make_task(config: Mapping[str, Any], data: ColorData, network: Network) -> Classification:
    """The training task of a composed configuration."""
    return Classification(
        network,
        optimizer=instantiate(config["optimizer"]),
        scheduler=schedule(config["scheduler"]),
        loss=instantiate(config["loss"]),
        batch_augment=_step_jitter(network, config["model"]) if config["step_jitter"] else None,
        seed=config["seed"],
        validation_names=data.validation_names,
        test_names=data.test_names,
        compile=compiled(config["trainer"]),
    )


def _monitor(selection: str, data: ColorData) -> str | None:
    """The logged error that decides which weights are tested; None for the last ones."""
    if selection == "last":
        return None
    if selection not in data.validation_names:
        raise ValueError(f"selection is {selection!r}; choose 'last' or a validation set: {', '.join(data.validation_names)}")
    return f"validation/{selection}/error"


def _step_jitter(network: Network, model: Mapping[str, Any]) -> BatchAugment:
    """Shifts by up to half a step of the network's own group: along the cover for T3CEN and hue, along the line for LCER.

    Raises:
        ValueError: steps that are not of hue, saturation and luminance.
    """
    family, lifting = model["family"], network.lifting
    if family not in ("t3cen", "lcer", "ceconv"):
        raise ValueError(f"step_jitter=true shifts by steps of hue, saturation and luminance; family {family!r} has none")
    if model["color_space"] != "hsl":
        raise ValueError(f"step_jitter=true shifts in HSL, got model.color_space={model['color_space']!r}")
    if isinstance(lifting, LCERLifting):
        steps = [lifting.offset(axis, 1) if order > 1 else 0.0 for axis, order in enumerate(lifting.group.orders)]
        return lambda images, generator: line_step_jitter(images, steps, generator)
    group = ColorGroup.parse(model["group"])  # CEConv has it in its convolutions, not in its lifting
    return lambda images, generator: step_jitter(images, group, model["cover"], generator)


def quiet() -> None:
    """Silence what says nothing about a run; every other warning is shown."""
    # Lightning's tips and what hardware it found
    for name in ("pytorch_lightning", "lightning_fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # the number of loader processes is a setting, and small sets are fastest without any
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    # torch moved a private function that Lightning calls
    warnings.filterwarnings("ignore", message=r".*isinstance\(treespec, LeafSpec\).*")
    # a cluster's machine, and a run that was started on it by hand
    warnings.filterwarnings("ignore", message=".*The `srun` command is available.*")
    # `Tally` has summed over the processes before anything is logged
    warnings.filterwarnings("ignore", message=".*sync_dist=True.*")


def _stop_alone() -> None:
    """Stop here if asked to, unless the other processes of the run count on this one; they stop together, in training."""
    if not rank_zero_only.rank and "LOCAL_RANK" not in os.environ:  # type: ignore[attr-defined]
        stop_if_asked()


def _train_and_test(config: Mapping[str, Any], folder: Path, copy: Mirror | None) -> dict[str, Any]:
    quiet()
    keep_freed_memory()
    _stop_alone()
    started, code = datetime.now(UTC), provenance.code_version(config)
    pl.seed_everything(config["seed"], verbose=False)
    data = make_data(config)
    data.setup()
    _stop_alone()
    network = make_network(config, data)
    task = make_task(config, data, network)
    identity = config_hash(config)
    directory = folder / CHECKPOINTS
    directory.mkdir(exist_ok=True)
    monitor = _monitor(config["selection"], data)
    checkpoints = Checkpoints(directory, identity, monitor=monitor, **config["checkpoint_every"])
    stopwatch = Stopwatch()
    trainer = make_trainer(
        config["trainer"],
        folder,
        [stopwatch, *map(instantiate, (config.get("callbacks") or {}).values()), checkpoints],
        batches=len(data.train_dataloader()),
        loggers=[*file_loggers(folder, config), *([copy] if copy is not None else [])],
        deterministic=config["deterministic"],
    )
    if monitor and not trainer.limit_val_batches:
        raise ValueError(
            f"selection={config['selection']} needs validation, which trainer.limit_val_batches={trainer.limit_val_batches} "
            "leaves out; set selection=last, or leave it out"
        )
    keep_held(data.start_method)
    resume = resume_point(directory, identity)
    if resume:
        log.info("going on from %s", resume)
    sittings = []
    if not rank_zero_only.rank:  # type: ignore[attr-defined]
        sittings = sit_down(folder, code, data.provenance, goes_on=resume is not None)
    trainer.fit(task, data, ckpt_path=resume)
    steps, epochs = trainer.global_step, trainer.current_epoch
    if short := records.cut_short(config, steps, epochs):
        raise ValueError(f"training ended after {short}; give it less to do (trainer.max_epochs, max_steps) or more time")
    checkpoints.save_trained(trainer)
    if data.validation_names:
        trainer.validate(task, data, verbose=False)  # a last candidate, where training ended between two validations
    if monitor:
        assert checkpoints.best is not None
        task.load_state_dict(checkpoints.best["weights"])
        trainer.validate(task, data, verbose=False)
    trainer.test(task, data, verbose=False)
    if trainer.is_global_zero:
        arguments, names = network_arguments(config, data), [str(name) for name in data.class_names]
        description = final.Saved(config["backbone"], arguments, names, data.image_size, identity)
        final.save(folder / final.FINAL, task.state_dict(), description)
    device = trainer.strategy.root_device
    return {
        "status": "finished",
        "name": config["name"],
        "scale": config["scale"],
        "seed": config["seed"],
        "metrics": task.results,
        "selection": config["selection"],
        "config": config,
        "config_hash": identity,
        **code,
        "dirty": any(sitting["dirty"] for sitting in sittings),
        "sittings": sittings,
        "versions": {**provenance.library_versions(), "cpu transforms": provenance.transforms()},
        "device": provenance.device_name(device),
        "data_provenance": data.provenance,
        "parameters": cost.parameters(network),
        "macs": cost.macs(network, (data.image_size, data.image_size), device=next(network.parameters()).device),
        "channels": network.channels,
        "peak_memory_bytes": cost.peak_memory(device),
        "wall_seconds": stopwatch.total,
        "step_seconds": stopwatch.step_seconds,
        "steps": steps,
        "epochs": epochs,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
