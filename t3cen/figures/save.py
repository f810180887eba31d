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

    Returns:
        the three paths, by suffix.
    """
    from t3cen.figures.style import house_style

    folder.mkdir(parents=True, exist_ok=True)
    paths = {suffix: folder / f"{name}.{suffix}" for suffix in ("png", "pdf", "json")}
    with house_style():
        for suffix, metadata in _METADATA.items():
            figure.savefig(paths[suffix], metadata=metadata)
    about = {"figure": name, "command": command, "config": config, "data": dict(data or {})}
    write_json(paths["json"], {**about, "numbers": numbers, "versions": library_versions(), **code_version()})
    return paths
