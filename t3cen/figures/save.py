"""A figure on disk: PNG, PDF, and a JSON file that says what it shows and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from t3cen.training.files import write_json
from t3cen.training.provenance import code_version, library_versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Dates and program versions would make equal figures differ.
SMALL = {"width": 1200, "colors": 96}
"""Pixels across a small figure, and its colours."""
_METADATA = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Creator": None, "Producer": None}}


def save(
    figure: Figure,
    numbers: Mapping[str, Any],
    folder: Path,
    name: str,
    *,
    command: str,
    config: Mapping[str, Any],
    data: Mapping[str, Any] | None = None,
    small: bool = False,
) -> dict[str, Path]:
    """Write `<name>.png`, `<name>.pdf` and, last, `<name>.json`.

    The JSON file holds the command, the configuration, the data's provenance, the numbers, the commit and library versions,
    and no date: drawn twice from equal numbers, all three files are equal byte by byte.

    Args:
        figure: drawn in the house style.
        numbers: what was plotted; plain numbers, strings, lists and mappings.
        folder: made if it is missing.
        command, config: how the figure was made.
        data: provenance of the data sets it shows, by name.
        small: no PDF, and a PNG of fewer pixels and colours, a tenth as long, as docs/results/figures keeps it.

    Returns:
        the three paths, by suffix.
    """
    from t3cen.figures.style import house_style

    folder.mkdir(parents=True, exist_ok=True)
    suffixes = ("png", "json") if small else ("png", "pdf", "json")
    paths = {suffix: folder / f"{name}.{suffix}" for suffix in suffixes}
    with house_style():
        for suffix in suffixes[:-1]:
            figure.savefig(paths[suffix], metadata=_METADATA[suffix])
    if small:
        _shrink(paths["png"])
    about = {"figure": name, "command": command, "config": config, "data": dict(data or {})}
    write_json(paths["json"], {**about, "numbers": numbers, "versions": library_versions(), **code_version()})
    return paths


def _shrink(path: Path) -> None:
    from PIL import Image

    with Image.open(path) as image:
        size = SMALL["width"], round(image.height * SMALL["width"] / image.width)
        whole = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    whole.quantize(SMALL["colors"], method=Image.Quantize.FASTOCTREE).save(path, optimize=True)  # others tint black letters
