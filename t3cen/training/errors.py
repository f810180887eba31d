"""Errors a person can act on, in one line."""

from __future__ import annotations

import re

import torch
from hydra.errors import InstantiationException

from t3cen.data.errors import DataError
from t3cen.extras import MissingExtra
from t3cen.training.files import RunInProgress

_EXPECTED = (ValueError, OSError, RunInProgress, FloatingPointError, DataError, torch.OutOfMemoryError)


def expected(error: BaseException) -> BaseException | None:
    """The error to tell a person about, taken out of Hydra's wrapping; None for a bug, which needs its traceback."""
    while isinstance(error, InstantiationException) and error.__cause__ is not None:
        if absent := re.match(r"Error locating target '(.*?)'[\s\S]*full_key: (\S+)", str(error)):
            key, reason = f"{absent[2]}._target_", " ".join(str(error.__cause__).split())
            return ValueError(f"{key}={absent[1]} cannot be imported ({reason}); look at its spelling and at PYTHONPATH")
        error = error.__cause__
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("t3cen"):
        return MissingExtra([error.name], "suite")
    return error if isinstance(error, _EXPECTED) else None
