"""The figures by name: each is `conf/figure/<name>.yaml`.

Its `_target_` is the function that draws it, its `caption` says what to see, and all else are arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from t3cen.experiments.composition import CONF
from t3cen.experiments.schema import nearest
from t3cen.figures.save import save
from t3cen.figures.style import house_style
from t3cen.figures.training import recorded_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CAPTION = "caption"
"""The key of a figure's file that says what to see in it."""


def names() -> list[str]:
    """Every figure there is."""
    return sorted(path.stem for path in (CONF / "figure").glob("[!.]*.yaml"))


def configure(name: str, overrides: Sequence[str] = ()) -> DictConfig:
    """The composed configuration of a figure.

    Args:
        name: one of `names()`.
        overrides: as on the command line, `figure.orders=[3,5]`.

    Raises:
        ValueError: there is no such figure.
    """
    if name not in names():
        raise ValueError(f"no figure {name!r}{nearest(name, names())} (figures: {', '.join(names())})")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("figures", [f"figure={name}", *overrides])


def draw(config: DictConfig) -> tuple[Figure, dict[str, Any]]:
    """The figure of a composed configuration, in the house style, and the numbers behind it."""
    arguments = OmegaConf.masked_copy(config["figure"], [key for key in config["figure"] if key != CAPTION])
    arguments._set_parent(config)  # what it refers to
    with house_style():
        return instantiate(arguments, _convert_="all")


def make(name: str, overrides: Sequence[str], command: str) -> tuple[dict[str, Path], dict[str, Any]]:
    """Draw and save one figure: (the written paths, the numbers)."""
    config = configure(name, overrides)
    folder, small = Path(config["figures"]), config["small"]
    if not isinstance(small, bool):
        raise ValueError(f"small must be true or false, got {small!r}")
    with recorded_data() as used:
        figure, numbers = draw(config)
    plain: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    paths = save(figure, numbers, folder, name, command=command, config=plain, data=used, small=small)
    return paths, numbers
