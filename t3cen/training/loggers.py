"""Where metrics go: a CSV file always, TensorBoard if asked for, Weights & Biases as a mirror."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger

from t3cen.extras import MissingExtra
from t3cen.training.mirror import Mirror

MODES = ("offline", "online", "off")


def csv_logger(folder: Path) -> CSVLogger:
    """Every sitting of a run writes a `metrics.csv` of its own under `folder/csv`."""
    sitting = len(list((folder / "csv").glob("sitting_*")))
    return CSVLogger(folder, name="csv", version=f"sitting_{sitting}", flush_logs_every_n_steps=20)


def file_loggers(folder: Path, config: Mapping[str, Any]) -> list[Logger]:
    """The CSV file and, with `logger.tensorboard`, event files in `folder/tensorboard`.

    Raises:
        MissingExtra: TensorBoard is not installed.
    """
    found: list[Logger] = [csv_logger(folder)]
    if config["logger"].get("tensorboard"):
        if find_spec("tensorboard") is None:
            raise MissingExtra(["tensorboard"], "tensorboard")
        found.append(TensorBoardLogger(folder, name="tensorboard", version="", default_hp_metric=False))
    return found


def mirror(folder: Path, config: Mapping[str, Any]) -> Mirror | None:
    """The wandb mirror that `logger.wandb` asks for.

    Raises:
        ValueError: it is none of `offline`, `online`, `off`.
    """
    mode = config["logger"]["wandb"]
    if mode not in MODES:
        raise ValueError(f"logger.wandb is {mode!r}; choose one of {', '.join(MODES)}")
    return None if mode == "off" else Mirror(folder, config, mode)
