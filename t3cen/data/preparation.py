"""The files of the data sets: how they are got, and whether they are there. What `scripts/prepare_data.py` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from t3cen.data import DATA_SETS
from t3cen.data.download import Remote, extract, fetch, verify, whole_folder
from t3cen.data.errors import DataError, MissingData, unwritable

if TYPE_CHECKING:
    from t3cen.data.module import ColorData

DOWNLOADS = "downloads"
"""Folder under the data root where archives are kept."""


@dataclass(frozen=True)
class Recipe:
    """A data set, as far as its files go; every class of `t3cen.data` has at least one.

    Attributes:
        name: what `scripts/prepare_data.py` calls it.
        about: what it is, its size and licence; and the manual steps where `get` is None.
        fake: writes tiny stand-ins in the real on-disk format into a data root.
        get: fetches the files into a data root, or None where nobody can.
        options: arguments of the class that read all of the files.
        files: files under the root with a checksum worth checking beyond what loading does.
    """

    name: str
    about: str
    fake: Callable[[Path], None]
    get: Callable[[Path], None] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Remote] = field(default_factory=dict)


def recipes() -> dict[str, tuple[type[ColorData], Recipe]]:
    """Every recipe by name, with the class that reads its files."""
    found = {recipe.name: (data, recipe) for data in DATA_SETS.values() for recipe in data.recipes}
    return {name: found[name] for name in sorted(found)}


def get_archive(root: Path, remote: Remote, folder: str) -> None:
    """Fetch an archive whose single top folder is the data set's, and unpack it."""
    packed = fetch(remote, root / DOWNLOADS / remote.name)

    def fill(temporary: Path) -> None:
        extract(packed, temporary)
        inner = temporary / folder
        if not inner.is_dir():
            raise DataError(f"{packed} holds no folder {folder}")
        for path in list(inner.iterdir()):
            path.rename(temporary / path.name)
        inner.rmdir()

    whole_folder(root / folder, fill)


def get_parquet(repository: str, folder: Path) -> None:
    """Fetch the parquet files of a data set at Hugging Face."""
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(repository, repo_type="dataset", local_dir=folder, allow_patterns=["*.parquet"])
    except Exception as error:  # of the hub, of whichever network library it uses, or of the disk
        if isinstance(error, OSError) and error.errno is not None:
            raise unwritable(folder, error) from error
        said = " ".join(str(error).split())
        raise DataError(f"{repository} could not be downloaded from Hugging Face ({said}); what has come is kept") from error


def state(name: str, root: Path) -> tuple[bool, str]:
    """Whether a data set is there and whole, and a line about it: `complete`, `incomplete`, `damaged` or `missing`, and why."""
    made, recipe = recipes()[name]
    try:
        data = made(root=root, **recipe.options)
        if not data.is_fake:
            for file, remote in recipe.files.items():
                if (root / file).exists():
                    verify(remote, root / file)
        data.setup()
        data.check()
    except MissingData as error:
        return False, f"missing: {error.what} (looked for {error.where})"
    except DataError as error:
        return False, f"damaged: {error}"
    sizes = ", ".join(f"{part} {size:,}" for part, size in data.provenance["sizes"].items())
    if data.is_fake:
        return True, f"fake: {sizes}"
    if not data.provenance.get("complete", True):
        return False, f"incomplete: {data.provenance['incomplete']}"
    return True, f"complete: {sizes}"
