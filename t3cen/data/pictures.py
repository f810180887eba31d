"""A picture of each data set: its training set and every test set, a row each (the paper's data set figures)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from t3cen.color import rgb_to_hsl
from t3cen.data import DATA_SETS
from t3cen.data.module import ColorData

TITLES = {"vanilla": "original", "saturation": "saturation - 0.5", "luminance": "luminance - 0.5", "in": "test, same hues"}


def previews() -> dict[str, tuple[type[ColorData], Mapping[str, Any]]]:
    """Data sets to draw, by their name in `conf/data`: the class, and the arguments that make its shifts."""
    return {name: (made, options) for made in DATA_SETS.values() for name, options in (made.previews or {made.name: {}}).items()}


def data_set(name: str, root: Path | str = "data", source: str | None = None, **options: Any) -> ColorData:
    """The data set called `name` in `conf/data`, from files or, by default, from what needs none where there is such a thing.

    Raises:
        ValueError: no data set has that name.
    """
    known = previews()
    if name not in known:
        raise ValueError(f"no data set is called {name!r}; choose from {', '.join(sorted(known))}")
    made, arguments = known[name]
    if source is None:
        source = next((s for s in made.sources if s not in ("files", "hub")), "files")
    return made(root=root, source=source, **{**arguments, **options})


def draw(name: str, out: Path, *, root: Path | str = "data", source: str | None = None, columns: int = 8, **options: Any) -> Path:
    """Draw the preview of a data set.

    Returns:
        the new file, `<out>/<name>.png`.
    """
    from matplotlib.figure import Figure

    data = data_set(name, root, source, **options)
    rows, extra = data.preview(columns), int(data.preview_saturation)
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
