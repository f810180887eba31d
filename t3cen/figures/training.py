"""The project's training configurations, data sets and finished runs, as figures need them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from t3cen.experiments import register

if TYPE_CHECKING:
    from t3cen.data import ColorData

CONF = Path(__file__).resolve().parents[2] / "conf"


def training_config(overrides: Sequence[str]) -> dict[str, Any]:
    """The resolved configuration `train.py` would train with these overrides."""
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("train", list(overrides))
    return OmegaConf.to_container(config, resolve=True)  # type: ignore[return-value]


def data_module(name: str, *, scale: str = "laptop", data_root: str = "data", overrides: Sequence[str] = ()) -> ColorData:
    """A data set by its name in conf/data, without training augmentation or loader processes; made once per process."""
    return _data_module(name, scale, data_root, tuple(overrides))


@cache
def _data_module(name: str, scale: str, data_root: str, overrides: tuple[str, ...]) -> ColorData:
    from t3cen.training.run import make_data

    given = [f"data={name}", f"scale={scale}", f"data_root={data_root}", "name=figure", "num_workers=0", "augment=none"]
    return make_data(training_config([*given, *overrides]))
