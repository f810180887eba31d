"""The project's first version, by the names that the attacks use; what it lacks stays missing."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


def adapt() -> None:
    """Do nothing unless `t3cen` is that version."""
    preparation = importlib.import_module("t3cen.data.preparation")
    if hasattr(preparation, "recipes"):
        return
    data, download, files, shapes, small = (
        importlib.import_module(f"t3cen.{name}")
        for name in ("data", "data.download", "data.files", "data.shapes3d_files", "data.fakes.small")
    )

    def recipes() -> dict[str, Any]:
        made = {name: recipe.dataset for name, recipe in preparation.RECIPES.items()}
        return {name: (getattr(data, kind), SimpleNamespace(options=options)) for name, (kind, options) in made.items()}

    def unpacked(source: Path, digest: str, block: str, rows: Any) -> Path:
        target = source.with_name(f"{source.stem}_block{block}.npy")  # the lines of `Shapes3D`
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            shapes.unpack(source, target, rows)
        return target

    old = files.decode
    preparation.recipes, download.gunzip, shapes.unpacked = recipes, preparation._gunzip, unpacked
    files.decode = lambda file, name, path, size=None: old(file, name, path)
    for name, content in {"checksums": {"checksum": download.checksum}, "idx": {"write_idx": small.write_idx}}.items():
        module = ModuleType(f"t3cen.data.{name}")
        module.__dict__.update(content)
        sys.modules[module.__name__] = module
