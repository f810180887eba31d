"""`final.ckpt`: the weights a run was tested with, and all it takes to make their network again."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from t3cen import __version__
from t3cen.models import build
from t3cen.models.network import Network
from t3cen.training import sealed

FINAL = Path("checkpoints", "final.ckpt")
_PREFIX = "network."


@dataclass(frozen=True)
class Saved:
    """What a `final.ckpt` says of its network beside the weights; `t3cen.models.build` makes it from the first two.

    Attributes:
        backbone: name of the network.
        arguments: further arguments of `build`, the normalisation's `mean` and `std` included.
        class_names: what its logits stand for.
        image_size: height and width of the images it was trained on.
        config_hash: of the run.
        version: of t3cen that saved it.
    """

    backbone: str
    arguments: Mapping[str, Any]
    class_names: Sequence[str]
    image_size: int
    config_hash: str
    version: str = __version__


def save(path: Path, state_dict: Mapping[str, Tensor], description: Saved) -> None:
    """Write the weights of a training task with the description of its network, sealed, whole or not at all."""
    sealed.save({"state_dict": state_dict, "network": asdict(description)}, path)


def read(path: Path) -> tuple[Saved, dict[str, Tensor]]:
    """The description and the weights in `path`.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, holds more than weights and plain values, or does not say what its network is.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no {path}; give the folder of a finished run, or its {FINAL}")
    try:
        content = sealed.load(path)
    except pickle.UnpicklingError as error:
        raise ValueError(f"{path} holds more than weights and plain values, and is not read") from error
    told = content.get("network") if isinstance(content, dict) else None
    if not isinstance(told, dict) or set(told) != {field.name for field in fields(Saved)}:
        raise ValueError(
            f"{path} does not say what its network is, as before t3cen {__version__}; "
            "make the network with t3cen.models.build, and load the weights into it"
        )
    weights = {name.removeprefix(_PREFIX): value for name, value in content["state_dict"].items() if name.startswith(_PREFIX)}
    return Saved(**told), weights


def load(path: str | PathLike[str]) -> Network:
    """The network of a finished run, with its weights, in evaluation mode on the CPU: `t3cen.load`.

    Its normalisation and its `class_names` and `image_size` are those it was trained with. Nothing in the file is executed.

    Args:
        path: a `final.ckpt`, or the folder of its run.

    Raises:
        FileNotFoundError: there is none.
        ValueError: the file is damaged, no such file, or of a network that this version does not make.
    """
    path = Path(path)
    saved, weights = read(path / FINAL if path.is_dir() else path)
    try:
        with torch.random.fork_rng(devices=[]):
            made = build(saved.backbone, **saved.arguments)
        made.load_state_dict(weights)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} is of t3cen {saved.version}, and {__version__} makes no such network: {error}") from error
    made.class_names, made.image_size = tuple(saved.class_names), saved.image_size
    return made.eval()
