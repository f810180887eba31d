"""A recommendation from folders of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from t3cen.analysis.images import evenly, image_files, read_image
from t3cen.analysis.recommendation import Recommendation, recommend

TRAIN, DEPLOYMENT = ("train", "training"), ("deployment", "deploy", "test")
LONGEST = 256


def recommend_folder(folder: Path, deployment: Path | None = None, *, limit: int = 400, **options: Any) -> Recommendation:
    """`recommend` for images on disk.

    Args:
        folder: images, in sub-folders by class if there are classes; or a folder that holds `train` and `deployment` (or
            `test`) folders of such.
        deployment: such a folder of images from where the network will be used.
        limit: images read from each, spread evenly over it.
        options: of `recommend`.

    Raises:
        FileNotFoundError, ValueError: no such folder, no images in it, one that cannot be read.
    """
    folder = Path(folder)
    if deployment is None:
        parts = {name: folder / name for name in (*TRAIN, *DEPLOYMENT) if (folder / name).is_dir()}
        train = next((parts[name] for name in TRAIN if name in parts), None)
        deployment = next((parts[name] for name in DEPLOYMENT if name in parts), None)
        if train is not None:
            folder = train
        else:
            deployment = None
    files, classes = _classified(folder, limit)
    labels = [classes.index(name) for name in _class_names(folder, files)] if classes else None
    if deployment is None:
        return recommend(_read(files), labels=labels, **options)
    there, _ = _classified(Path(deployment), limit)
    names = _class_names(Path(deployment), there)
    known = labels is not None and all(name in classes for name in names)
    there_labels = [classes.index(name) for name in names] if known else None
    return recommend(_read(files), _read(there), labels=labels, deployment_labels=there_labels, **options)


def _classified(folder: Path, limit: int) -> tuple[list[Path], list[str]]:
    """At most `limit` images of a folder, and the names of its class sub-folders if all images lie in such."""
    files = evenly(image_files(folder), limit)
    if any(path.parent == folder or path == folder for path in files):
        return files, []
    classes = sorted({path.relative_to(folder).parts[0] for path in files})
    return files, classes if len(classes) > 1 else []


def _class_names(folder: Path, files: Sequence[Path]) -> list[str]:
    return ["".join(path.relative_to(folder).parts[:1]) for path in files]  # nothing for a folder that is itself the image


def _read(files: Sequence[Path]) -> Iterator[Tensor]:
    for path in files:
        yield read_image(path, LONGEST)
