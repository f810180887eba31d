"""The network of a finished run, from its folder."""

from __future__ import annotations

from pathlib import Path

from t3cen.experiments.record import read
from t3cen.models import build
from t3cen.models.network import Network
from t3cen.training import sealed
from t3cen.training.outcome import CHECKPOINTS, FINAL, RESULT

_PREFIX = "network."


def load(path: Path) -> Network:
    """The network of a finished run in evaluation mode, with `class_names` and `image_size`; no code in a file is executed.

    Args:
        path: the run's folder, or `checkpoints/final.ckpt` in it.

    Raises:
        FileNotFoundError: there is no such file, or no `result.json` of its run.
        ValueError: a file is damaged, or does not say what its classes are called.
    """
    file = path / CHECKPOINTS / FINAL if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"no {file}; give the folder of a finished run, or its {CHECKPOINTS}/{FINAL}")
    weights = sealed.load(file)["state_dict"]
    record = read(file.parents[1] / RESULT)
    names = record.content["data_provenance"].get("class_names")
    if names is None:
        raise ValueError(f"{record.path} does not say what its classes are called; runs on data=folder do")
    from t3cen.data import Folder

    config = record.config
    made = build(config["backbone"], num_classes=len(names), mean=Folder.mean, std=Folder.std, **config["model"])
    made.load_state_dict({name.removeprefix(_PREFIX): value for name, value in weights.items() if name.startswith(_PREFIX)})
    made.class_names, made.image_size = tuple(names), config["data"]["image_size"]
    return made.eval()
