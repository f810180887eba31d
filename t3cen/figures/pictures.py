"""Example images for figures: from a data set of the project, or from any file or folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from t3cen.analysis.images import evenly, image_files, read_image
from t3cen.experiments.composition import CONF


def examples(
    where: str,
    count: int = 1,
    *,
    split: str = "train",
    skip: int = 0,
    size: int | None = None,
    scale: str = "laptop",
    data_root: str = "data",
    overrides: Sequence[str] = (),
) -> Tensor:
    """`count` images of one size, spread evenly over a data set or folder.

    Args:
        where: a name of conf/data, or the path of an image or a folder of images.
        count: how many.
        split: `train`, or a name of the data set's validation or test sets.
        skip: how many of the evenly spread images to leave out first, for other examples.
        size: height and width to resize to; needed where files differ in size.
        scale, data_root, overrides: of the data set, as for training.

    Returns:
        `(count, 3, H, W)`, RGB in [0, 1].

    Raises:
        ValueError: no such data set or path, fewer images than asked for, images of different sizes, a size below 1.
    """
    if size is not None and size < 1:
        raise ValueError(f"size must be at least 1 pixel, got {size}")
    path = Path(where)
    if not path.exists() and not (CONF / "data" / f"{where}.yaml").exists():
        known = ", ".join(sorted(file.stem for file in (CONF / "data").glob("[!.]*.yaml")))
        raise ValueError(f"{where!r} is neither a file, nor a folder, nor a data set; data sets are {known}")
    if path.exists():
        images = [read_image(file) for file in evenly(image_files(path), count + skip)]
    else:
        images = from_split(where, split, count + skip, scale=scale, data_root=data_root, overrides=overrides)
    images = images[skip:]
    if len(images) < count:
        raise ValueError(f"{where} has {len(images)} images left after {skip}, {count} expected")
    if size is not None:
        images = [_resized(image, size) for image in images]
    sizes = {tuple(image.shape[1:]) for image in images}
    if len(sizes) > 1:
        raise ValueError(f"images of {where} have different sizes, {', '.join(map(str, sorted(sizes)))}; set size=64 or another")
    return torch.stack(images)


def from_split(name: str, split: str, count: int, **options: Any) -> list[Tensor]:
    """Up to `count` images of a split of a data set, spread evenly."""
    from t3cen.figures.training import data_module

    splits = data_module(name, **options).splits
    sets = {"train": splits.train, **splits.validation, **splits.test}
    if split not in sets:
        raise ValueError(f"{name} has no split {split!r}; it has {', '.join(sets)}")
    items: Any = sets[split]
    take = min(count, len(items))
    return [items[at * len(items) // take][0] for at in range(take)]


SOURCES = {"files": "", "bundled": " (bundled digits)", "rendered": " (our rendering)", "synthetic": " (drawn stand-in)"}


def caption(name: str, text: str, *, scale: str = "laptop", data_root: str = "data", overrides: Sequence[str] = ()) -> str:
    """`text`, and in brackets where the pictures of a data set come from, unless they are the published files."""
    from t3cen.figures.training import data_module

    data = data_module(name, scale=scale, data_root=data_root, overrides=overrides)
    return text + SOURCES.get(data.source, f" ({data.source})")


def _resized(image: Tensor, size: int) -> Tensor:
    from torchvision.transforms.v2.functional import resize

    return resize(image, [size, size], antialias=True).clamp(0, 1)


def hospitals(count: int, *, scale: str = "laptop", data_root: str = "data", overrides: Sequence[str] = ()) -> dict[str, Tensor]:
    """`count` patches `(count, 3, H, W)` of each of Camelyon17's hospitals, counted from 0 as in its files."""
    from t3cen.figures.training import data_module

    data: Any = data_module("camelyon", scale=scale, data_root=data_root, overrides=overrides)
    source, center, _ = data.patches_by_hospital()
    found = {}
    for hospital in sorted(set(center.tolist())):
        rows = (center == hospital).nonzero()[:, 0].tolist()
        take = [rows[at * len(rows) // count] for at in range(min(count, len(rows)))]
        found[f"hospital {hospital}"] = torch.stack([source.picture(row) for row in take]).float() / 255
    return found
