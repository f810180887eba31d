"""Errors a person can act on, in one line."""

from __future__ import annotations

import re

import torch
from hydra.errors import InstantiationException

from t3cen.data.errors import DataError
from t3cen.extras import MissingExtra
from t3cen.training.files import RunInProgress

_EXPECTED = (ValueError, OSError, RunInProgress, FloatingPointError, DataError, torch.OutOfMemoryError)

_LOADER = re.compile(r"DataLoader worker \(pid\S* ([\d, ]+)\) (?:is killed by signal: ([\w ]+)|exited unexpectedly)")
"""What PyTorch says when a loader process died, by whichever of its two ways it notices."""


class LoaderKilled(RuntimeError):
    """A loader process died; nothing of the run did."""


def expected(error: BaseException) -> BaseException | None:
    """The error to tell a person about, taken out of Hydra's wrapping; None for a bug, which needs its traceback."""
    if died := _died(error):
        return died
    while isinstance(error, InstantiationException) and error.__cause__ is not None:
        if absent := re.match(r"Error locating target '(.*?)'[\s\S]*full_key: (\S+)", str(error)):
            key, reason = f"{absent[2]}._target_", " ".join(str(error.__cause__).split())
            return ValueError(f"{key}={absent[1]} cannot be imported ({reason}); look at its spelling and at PYTHONPATH")
        error = error.__cause__
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("t3cen"):
        return MissingExtra([error.name], "suite")
    return error if isinstance(error, _EXPECTED) else None


def _died(error: BaseException) -> LoaderKilled | None:
    """A loader process that was killed. PyTorch raises wherever the run just is, so it may be the cause of another error."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, RuntimeError) and (found := _LOADER.search(str(seen))):
            by = f" ({found[2]})" if found[2] else ""
            return LoaderKilled(
                f"loader process {found[1]} was killed{by}, as where memory runs out. A lower num_workers or "
                "data.batch_size needs less. The same command goes on from the last checkpoint"
            )
        seen = seen.__cause__ or seen.__context__
    return None
