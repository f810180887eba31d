"""Pickles that hold arrays, text and numbers, read without running what anybody else may have put into them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def _encode(text: str, encoding: str) -> bytes:
    """How pickles of Python 3 in the protocol of Python 2 spell bytes."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes spelled in {encoding}, latin1 expected")
    return text.encode("latin1")


_REBUILD: Callable[..., Any] = np.empty(0).__reduce__()[0]  # type: ignore[assignment]
ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _REBUILD,
    ("numpy._core.multiarray", "_reconstruct"): _REBUILD,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): _encode,
}
"""All that may be called while reading."""


class _Arrays(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"asks to call {module}.{name}, which no array needs") from None


def load_arrays(path: Path) -> dict[str, Any]:
    """The dictionary in a pickle file, of Python 2 too.

    Raises:
        pickle.UnpicklingError: it asks to call anything but what builds arrays, or holds no dictionary.
    """
    with path.open("rb") as file:
        content = _Arrays(file, encoding="latin1").load()
    if not isinstance(content, dict):
        raise pickle.UnpicklingError(f"{path.name} holds a {type(content).__name__}, no dictionary")
    return content
