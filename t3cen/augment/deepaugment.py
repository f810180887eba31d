"""DeepAugment: training pictures replaced by ones that came out of a disturbed image-to-image network.

The disturbed pictures are made once, by `scripts/generate_deepaugment.py`, and read here from a folder:

    manifest.json            written last: what the pictures were made from
    weights/000017.png       stored picture 17, through a network with disturbed weights
    activations/000017.png   the same, with disturbed activations
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from t3cen.augment import AUGMENTATIONS
from t3cen.augment.images import to_float
from t3cen.data.errors import DataError
from t3cen.data.files import open_rgb
from t3cen.experiments import plain_json
from t3cen.project import command

MANIFEST = "manifest.json"
VARIANTS = ("weights", "activations")
SUFFIX = ".png"


class Pictures(Protocol):
    """Stored pictures: `picture(i)` is a uint8 RGB tensor `(3, H, W)`."""

    def picture(self, index: int) -> Tensor: ...


@AUGMENTATIONS.register
class DeepAugment:
    """Every time a training picture is drawn, it is the original or one of its disturbed variants, each equally often.

    The publication trains on the union of the original and the disturbed sets; drawing one of them at random keeps the
    number of iterations that of the other rows. Crops and flips come after, as for any picture.

    Args:
        name: the data set, as in `conf/data`.
        root: folder of all data; the pictures lie in `<root>/deepaugment/<name>`.

    Raises:
        DataError: when training starts (`check`): the folder is missing or unfinished, a picture is missing, or the folder
            was made from other pictures. It never trains on clean pictures instead.

    Source: Hendrycks et al., "The many faces of robustness", 2021 (arXiv 2006.16241).
    """

    def __init__(self, name: str, root: str | Path = "data") -> None:
        self.folder = folder_of(name, root)
        self.variants: tuple[str, ...] | None = None
        self._fingerprint = ""

    def check(self, pictures: Pictures, indices: Tensor) -> None:
        """Make sure that every variant of every training picture is there. Raises as the class says.

        Args:
            pictures: the originals.
            indices: which of them are training pictures.
        """
        manifest = read_manifest(self.folder)
        variants = tuple(manifest["variants"])
        for variant in variants:
            found = {int(path.stem) for path in (self.folder / variant).glob(f"[0-9]*{SUFFIX}")}
            absent = sorted(set(indices.tolist()) - found)
            if len(found) != manifest["count"] or absent:
                raise DataError(
                    f"DeepAugment: {self.folder / variant} holds {len(found)} pictures, {manifest['count']} expected by its "
                    f"manifest, and {len(absent)} of the {len(indices)} training pictures are missing"
                    + (f" (the first is {absent[0]:06d}{SUFFIX})" if absent else "")
                    + f". {_advice(self.folder)}"
                )
        for index, expected in manifest["fingerprints"].items():
            if int(index) in set(indices.tolist()) and fingerprint(pictures.picture(int(index))) != expected:
                raise DataError(
                    f"DeepAugment: {self.folder} was made from other pictures than these (number {index} differs); "
                    f"move it away, or use the source it was made from. {_advice(self.folder)}"
                )
        self.variants, self._fingerprint = variants, _folder_fingerprint(self.folder, variants, sorted(indices.tolist()))

    def fingerprint(self) -> str:
        """16 hex digits, others for pictures made anew. Raises as `picture`."""
        if self.variants is None:
            raise RuntimeError("DeepAugment.check has not been called, so nothing says what the pictures are")
        return self._fingerprint

    def picture(self, original: Tensor, index: int, generator: torch.Generator) -> Tensor:
        """The stored picture `index`, original or disturbed, `(3, H, W)` uint8; a variant may be of another size.

        Raises:
            RuntimeError: before `check`.
        """
        if self.variants is None:
            raise RuntimeError("DeepAugment.check has not been called, so nothing says that the pictures are complete")
        choice = int(torch.randint(len(self.variants) + 1, (), generator=generator))
        return original if choice == 0 else read_picture(picture_path(self.folder, self.variants[choice - 1], index))

    def __call__(self, image: Tensor, generator: torch.Generator) -> Tensor:
        """`(3, H, W)` uint8 -> float32 in [0, 1]; what there was to change is changed already."""
        return to_float(image)


def folder_of(name: str, root: str | Path = "data") -> Path:
    """Where the disturbed pictures of a data set lie."""
    return Path(root) / "deepaugment" / name


def picture_path(folder: Path, variant: str, index: int) -> Path:
    """Where a variant of stored picture `index` lies."""
    return folder / variant / f"{index:06d}{SUFFIX}"


def read_picture(path: Path) -> Tensor:
    """`(3, H, W)` uint8.

    Raises:
        DataError: the file cannot be read as an image.
    """
    try:
        pixels = np.array(open_rgb(path))
    except Exception as error:  # whatever a damaged file makes Pillow stumble over
        raise DataError(f"DeepAugment: {path} cannot be read ({error}). {_advice(path.parents[1])}") from error
    return torch.from_numpy(pixels).permute(2, 0, 1)


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """What a folder of disturbed pictures says about itself.

    Raises:
        DataError: there is no folder, or no whole manifest in it.
    """
    if not folder.is_dir():
        raise DataError(f"DeepAugment: the folder {folder.absolute()} is missing. {_advice(folder)}")
    try:
        content = plain_json.read(folder / MANIFEST)
    except plain_json.BadFile as error:
        if not (folder / MANIFEST).exists():
            told = f"DeepAugment: {folder.absolute()} has no {MANIFEST}, so it is unfinished. {_advice(folder)}"
            raise DataError(told) from None
        raise _damaged(folder, str(error)) from error
    kinds = {"variants": list, "count": int, "fingerprints": dict}
    if not isinstance(content, dict) or not all(isinstance(content.get(key), kind) for key, kind in kinds.items()):
        raise _damaged(folder, f"it lacks {', '.join(kinds)}, or holds something else there")
    if not all(index.isdecimal() for index in content["fingerprints"]):
        raise _damaged(folder, "its fingerprints are not of numbered pictures")
    return content


def _damaged(folder: Path, why: str) -> DataError:
    return DataError(f"DeepAugment: {(folder / MANIFEST).absolute()} is damaged: {why}. Delete the folder; {_advice(folder)}")


def fingerprint(picture: Tensor) -> str:
    """A hash of a uint8 picture, to recognise it by."""
    return hashlib.sha256(repr(tuple(picture.shape)).encode() + picture.contiguous().numpy().tobytes()).hexdigest()[:16]


def _folder_fingerprint(folder: Path, variants: Sequence[str], indices: Sequence[int], pictures: int = 64) -> str:
    """16 hex digits that tell apart pictures made anew: of the manifest, all sizes, and some pictures of each variant."""
    digest = hashlib.sha256((folder / MANIFEST).read_bytes())
    for variant in variants:
        paths = [picture_path(folder, variant, index) for index in indices]
        digest.update(repr([path.stat().st_size for path in paths]).encode())
        for path in paths[:: max(1, len(paths) // pictures)]:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def fingerprints(pictures: Pictures, indices: Sequence[int], number: int = 16) -> dict[str, str]:
    """Fingerprints of at most `number` pictures, evenly spread, the first included."""
    chosen = indices[:: max(1, len(indices) // number)][:number]
    return {str(index): fingerprint(pictures.picture(index)) for index in chosen}


def _advice(folder: Path) -> str:
    return f"`{command('deepaugment')} data={folder.name}` makes it, or goes on where it stopped."
