"""Convolutional networks equivariant to hue, saturation and luminance."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from t3cen.models.network import Network

__version__ = "0.1.0"


def load(path: str | PathLike[str]) -> Network:
    """The network of a finished run, with its weights, in evaluation mode on the CPU.

    Its normalisation and its `class_names` and `image_size` are those it was trained with. Nothing in the file is executed.

    Args:
        path: a `final.ckpt`, or the folder of its run.

    Raises:
        FileNotFoundError: there is none.
        ValueError: the file is damaged, no such file, or of a network that this version does not make.
    """
    from pathlib import Path

    from t3cen.training import final  # here: importing t3cen imports nothing

    return final.load(Path(path))
