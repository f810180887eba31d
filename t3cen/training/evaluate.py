"""Tests the weights of a run again: on its own data set, with other settings, or on another data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from omegaconf import OmegaConf
from torch.optim import SGD

from t3cen.experiments.composition import compose_with
from t3cen.experiments.trusted import trusted
from t3cen.loss import cross_entropy
from t3cen.task import Classification
from t3cen.training import sealed
from t3cen.training.callbacks import Bar
from t3cen.training.checks import check
from t3cen.training.files import read_json
from t3cen.training.outcome import CHECKPOINTS, CONFIG, FINAL
from t3cen.training.run import make_data, make_network, quiet

WIDE = {"data_root": "data.root", "num_workers": "data.num_workers"}
"""Keys that configurations of data refer to, and where their values are in one that is resolved."""


def located(path: Path) -> tuple[Path, Path]:
    """The folder of a run and the file of its weights, either of which `path` may be.

    Raises:
        FileNotFoundError: there is no such checkpoint, or no configuration beside it.
    """
    folder, weights = (path, path / CHECKPOINTS / FINAL) if path.is_dir() else (path.parent.parent, path)
    if not weights.is_file():
        raise FileNotFoundError(f"no checkpoint {weights}; give the folder of a finished run, or a file of its {CHECKPOINTS}/")
    if not (folder / CONFIG).is_file():
        raise FileNotFoundError(f"no {CONFIG} in {folder}, which says what network {weights.name} is of")
    return folder, weights


def data_config(config: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """The run's configuration with the data that `overrides` say: `data=NAME` for another set, `data.KEY=VALUE`.

    Raises:
        ValueError: an override is about something else than data, or its key does not exist.
    """
    for line in overrides:
        key = line.partition("=")[0].lstrip("+")
        if "=" not in line or not (key in ("data", *WIDE) or key.startswith("data.")):
            raise ValueError(f"{line!r} says nothing about the data; set data=NAME, data.KEY=VALUE, {' or '.join(WIDE)}=VALUE")
    if any(line.startswith("data=") for line in overrides):
        return {**config, "data": compose_with([f"scale={config['scale']}", f"seed={config['seed']}", *overrides])["data"]}
    lines = []
    for line in overrides:
        key, _, value = line.partition("=")
        lines.append(f"{WIDE.get(key, key.lstrip('+'))}={value}")
        if not key.startswith("+") and lines[-1].split("=")[0].split(".")[1] not in config["data"]:
            raise ValueError(f"no key {key!r}; the data have {', '.join(config['data'])}, and a + before a key adds it")
    return OmegaConf.to_container(OmegaConf.merge(config, OmegaConf.from_dotlist(lines)))  # type: ignore[return-value]


def _received(path: Path) -> dict[str, Any]:
    """A run's configuration, which may be anybody's: of its parts only the data are made, and those only as conf/ has them."""
    config = read_json(path)
    if not isinstance(config.get("data"), dict) or not isinstance(config.get("model"), dict):
        raise ValueError(f"{path} is no configuration of a run")
    return {**config, **trusted(config, "data"), "augment": None}


def evaluate(path: Path, overrides: Sequence[str] = (), *, accelerator: str = "auto") -> dict[str, dict[str, float | int]]:
    """`error`, `correct`, `total` and `loss` on every test set.

    Args:
        path: the folder of a run, or a file of its `checkpoints/`.
        overrides: see `data_config`.
        accelerator: of Lightning's Trainer.

    Raises:
        FileNotFoundError: see `located`.
        DamagedFile: the checkpoint is not what was written.
        ValueError: see `data_config`; no configuration, or one that asks for what no file of conf/ names; or the data have
            another number of classes than the network.
        DataError: the data are missing or broken.
    """
    quiet()
    folder, weights = located(path)
    trained_on = _received(folder / CONFIG)
    tested_on = data_config(trained_on, overrides)
    check(tested_on)
    own, data = make_data(trained_on), make_data(tested_on)
    if own.num_classes != data.num_classes:
        raise ValueError(
            f"the network tells {own.num_classes} classes apart, {data.name} has {data.num_classes}; choose other data"
        )
    network = make_network(trained_on, own)  # normalised as in training
    task = Classification(network, optimizer=SGD, scheduler=None, loss=cross_entropy, test_names=data.test_names)
    content = sealed.load(weights)
    task.load_state_dict(content["state_dict"])
    trainer = pl.Trainer(
        accelerator=accelerator, devices=1, logger=False, callbacks=[Bar()], enable_progress_bar=False,
        enable_checkpointing=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.test(task, data, verbose=False)
    return task.results["test"]
