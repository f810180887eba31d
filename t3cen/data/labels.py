"""Checks of labels: each is a whole number of a class that the data set has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from t3cen.data.errors import DataError


def whole_numbers(labels: Sequence[Any] | Tensor) -> Tensor:
    """Labels as int64 `(N,)`.

    Raises:
        ValueError: one is no whole number (nothing is rounded), or they are no list.
    """
    array = np.asarray(labels)
    if array.size == 0:
        return torch.zeros(0, dtype=torch.long)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        found = f"{array.dtype} {array.shape} with {array.ravel().tolist()[0]!r}"
        raise ValueError(f"labels must be a list of whole numbers, got {found}")
    with np.errstate(invalid="ignore"):
        whole = array.astype(np.int64)
    if (whole != array).any():
        raise ValueError(f"labels must be whole numbers, got {array[whole != array][0]}")
    return torch.from_numpy(whole)


def check_labels(name: str, labels: Sequence[int] | Tensor, expected: int, where: Path | str) -> None:
    """Every label is one of 0 to `expected` - 1, and every class has a picture.

    Raises:
        DataError: a label is out of range, or a class is missing.
    """
    found = set(torch.as_tensor(labels).unique().tolist())
    foreign, empty = sorted(found - set(range(expected))), sorted(set(range(expected)) - found)
    if foreign:
        raise DataError(f"{name}: {where} has a label {foreign[0]}, only 0 to {expected - 1} are expected")
    if empty:
        raise DataError(f"{name}: {where} has no picture of {len(empty)} of {expected} classes (the first: number {empty[0]})")
