"""A job: one run of a sweep, composed, before it is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import HydraContext
from omegaconf import DictConfig, OmegaConf, open_dict

from t3cen.training.checks import check


@dataclass(frozen=True)
class Job:
    """A resolved configuration, the folder it belongs in, and what the command line changed."""

    config: Mapping[str, Any]
    folder: Path
    overrides: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.config['name']} seed {self.config['seed']}"


_composed: dict[tuple[str, ...], Job] = {}


def compose(context: HydraContext, master: DictConfig, overrides: Sequence[str]) -> Job:
    """The job that Hydra's `overrides` describe within the sweep `master`; composed once, however often it is asked for."""
    key = (str(master.hydra.sweep.dir), *(line for line in overrides if not line.startswith("hydra.sweep.subdir=")))
    if key not in _composed:
        _composed[key] = _compose(context, master, overrides)
    return _composed[key]


def _compose(context: HydraContext, master: DictConfig, overrides: Sequence[str]) -> Job:
    composed = context.config_loader.load_sweep_config(master, list(overrides))
    before = HydraConfig.instance().cfg
    HydraConfig.instance().set_config(composed)
    try:
        folder = Path(composed.hydra.sweep.dir, composed.hydra.sweep.subdir).absolute()
        task = tuple(composed.hydra.overrides.task)
        experiment = composed.hydra.runtime.choices.get("experiment")
        with open_dict(composed):
            del composed["hydra"]
        config: dict[str, Any] = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)  # type: ignore[assignment]
    finally:
        HydraConfig.instance().cfg = before
    check(config, experiment)
    return Job(config, folder, task)
