"""A picture of each data set: its training set and every test set, a row each (the paper's data set figures)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import t3cen.data
from t3cen.color import rgb_to_hsl
from t3cen.data.camelyon import Camelyon
from t3cen.data.items import TestItems
from t3cen.data.module import ColorData

SETS: dict[str, tuple[str, dict[str, Any]]] = {
    "mnist": ("MNIST", {}),
    "mnist_angle": ("MNIST", {"angle": 15}),
    "shapes3d_hue": ("Shapes3D", {"variant": "hue"}),
    "shapes3d_sat": ("Shapes3D", {"variant": "saturation"}),
    "shapes3d_hsl": ("Shapes3D", {"variant": "hsl", "shift_mode": "fold"}),
    "smallnorb": ("SmallNORB", {}),
    "camelyon": ("Camelyon", {"patches": 200}),
    "cifar10": ("CIFAR10", {}),
    "cifar100": ("CIFAR100", {}),
    "stl10": ("STL10", {}),
    "caltech101": ("Caltech101", {}),
    "pets": ("Pets", {}),
    "cars": ("Cars", {}),
    "kutomadata": ("KUTomaData", {}),
}
"""Data sets as named in `conf/data`: class, and the arguments that make its shifts."""
TITLES = {"vanilla": "original", "saturation": "saturation - 0.5", "luminance": "luminance - 0.5", "in": "test, same hues"}


def data_set(name: str, root: Path | str = "data", source: str | None = None, **options: Any) -> ColorData:
    """The data set called `name` in `conf/data`, from files or, by default, from what needs none where there is such a thing.

    Raises:
        ValueError: no data set has that name.
    """
    if name not in SETS:
        raise ValueError(f"no data set is called {name!r}; choose from {', '.join(SETS)}")
    class_name, arguments = SETS[name]
    made: ColorData = getattr(t3cen.data, class_name)
    if source is None:
        source = next((s for s in made.sources if s not in ("files", "hub")), "files")
    return made(root=root, source=source, **{**arguments, **options})  # type: ignore[operator]


def rows_of(data: ColorData, count: int) -> dict[str, Tensor]:
    """Some pictures of the training set and of each test set; the same places in every test set; `(count, 3, H, W)` each."""
    splits = data.splits
    view = getattr(next(iter(splits.test.values())), "view", None)
    shown = {"training": TestItems(splits.train.source, splits.train.indices, view=view), **splits.test}  # type: ignore[attr-defined]
    rows = {}
    for name, items in shown.items():
        places = torch.linspace(0, len(items) - 1, count).long().tolist()  # type: ignore[arg-type]
        rows[name] = torch.stack([items[place][0] for place in places])
    return rows


def hospitals(data: Camelyon, count: int) -> dict[str, Tensor]:
    """Some patches of each of the five hospitals of Camelyon17; `(count, 3, H, W)` each."""
    source, center, _ = data.patches_by_hospital()
    rows = {}
    for hospital in range(5):
        places = (center == hospital).nonzero()[:, 0]
        chosen = places[torch.linspace(0, len(places) - 1, count).long()].tolist()
        rows[f"hospital {hospital}"] = torch.stack([source.picture(place).float() / 255 for place in chosen])
    return rows


def draw(name: str, out: Path, *, root: Path | str = "data", source: str | None = None, columns: int = 8, **options: Any) -> Path:
    """Draw a data set; Camelyon17 by hospital, with the distribution of saturation in each.

    Returns:
        the new file, `<out>/<name>.png`.
    """
    from matplotlib.figure import Figure

    data = data_set(name, root, source, **options)
    extra = 0
    if isinstance(data, Camelyon):
        rows, extra = hospitals(data, max(columns, 40)), 1
    else:
        rows = rows_of(data, columns)
    figure = Figure(figsize=(1.0 * columns + 1.6 + 2.2 * extra, 1.05 * len(rows) + 0.3), layout="constrained")
    grid = figure.add_gridspec(len(rows), columns + 2 * extra)
    for i, (title, pictures) in enumerate(rows.items()):
        for j in range(columns):
            axes = figure.add_subplot(grid[i, j])
            axes.imshow(pictures[j].permute(1, 2, 0).numpy(), interpolation="nearest", vmin=0, vmax=1)
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
            if j == 0:
                axes.set_ylabel(TITLES.get(title, title), rotation=0, ha="right", va="center", fontsize=9)
        if extra:
            saturation = rgb_to_hsl(pictures)[:, 1]
            axes = figure.add_subplot(grid[i, columns:])
            axes.hist(saturation.flatten().numpy(), bins=50, range=(0, 1), density=True, color="0.35")
            axes.axvline(float(saturation.mean()), color="tab:red", linewidth=1)
            axes.set(xlim=(0, 1), yticks=[], xticks=[0, 0.5, 1] if i == len(rows) - 1 else [])
            if i == len(rows) - 1:
                axes.set_xlabel("saturation", fontsize=9)
    where = data.provenance["source"]
    figure.suptitle(f"{name} ({where})" if where != "files" else name, fontsize=10)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.png"
    figure.savefig(path, dpi=150)
    return path
