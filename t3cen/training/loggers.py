"""Where metrics go: a CSV file always, Weights & Biases as a mirror."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import CSVLogger, Logger, WandbLogger

MODES = ("offline", "online", "off")


def loggers(folder: Path, config: Mapping[str, Any]) -> list[Logger]:
    """The loggers of one sitting of a run; every sitting writes a `metrics.csv` of its own under `folder/csv`.

    Raises:
        ValueError: `logger.wandb` is none of `offline`, `online`, `off`.
    """
    options = config["logger"]
    sitting = len(list((folder / "csv").glob("sitting_*")))
    made: list[Logger] = [CSVLogger(folder, name="csv", version=f"sitting_{sitting}", flush_logs_every_n_steps=20)]
    if options["wandb"] not in MODES:
        raise ValueError(f"logger.wandb is {options['wandb']!r}; choose one of {', '.join(MODES)}")
    if options["wandb"] != "off":
        made.append(_wandb(folder, config, offline=options["wandb"] == "offline"))
    return made


def _wandb(folder: Path, config: Mapping[str, Any], *, offline: bool) -> Logger:
    # The mirror stays in the background: its notices would fill the terminal and the job's output.
    os.environ.setdefault("WANDB_SILENT", "true")
    return WandbLogger(
        name=f"{config['name']}-seed{config['seed']}",
        project=config["logger"]["wandb_project"],
        save_dir=folder,
        offline=offline,
        config=dict(config),
        group=config["name"],
        tags=[config["scale"]],
    )
