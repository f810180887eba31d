"""What became of a run, read from its folder."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from t3cen.experiments import plain_json
from t3cen.experiments.identity import NEUTRAL, config_hash
from t3cen.experiments.record import BadRecord, read
from t3cen.training.files import write_json, writer

log = logging.getLogger(__name__)

RESULT, FAILURE, CONFIG, JOB, CHECKPOINTS = "result.json", "failure.json", "config.json", "job.json", "checkpoints"
SITTINGS, TICKET = "sittings.json", "cluster.json"
LOG = "train.log"
REFUSED = "result.refused.json"
LAST, PREVIOUS, FINAL = "last.ckpt", "previous.ckpt", "final.ckpt"
OLD = 60.0
"""Seconds that nobody takes to write a draft."""


@dataclass(frozen=True)
class Outcome:
    """`state` is done, stale (a result of another configuration), running, failed, unfinished or missing."""

    state: str
    reason: str = ""


def outcome(folder: Path, config: Mapping[str, Any]) -> Outcome:
    """Where the run that `config` describes stands in `folder`.

    Failed too where its result is refused, where that is of fake pictures and the data are not, or where the folder cannot be
    used.
    """
    try:
        if folder.exists() and not folder.is_dir():
            return Outcome("failed", f"{folder} is a file, a folder is needed; move it away")
        return _outcome(folder, config)
    except OSError as error:
        return Outcome("failed", f"{folder} cannot be used: {error.strerror or error}")


def _outcome(folder: Path, config: Mapping[str, Any]) -> Outcome:
    refused = None
    if (folder / RESULT).exists():
        try:
            record = read(folder / RESULT)
        except BadRecord as error:
            refused = Outcome("failed", f"its result is refused: {error}")
        else:
            if config_hash(record.config) != config_hash(config):
                how = changes(record.config, config)
                return Outcome("stale", f"{folder} holds the result of another configuration ({how})")
            if record.source != "fake" or _on_fakes(config):
                return Outcome("done")
            refused = Outcome("failed", "its result is refused: it is of fake pictures, and the data are not")
    if process := writer(folder):
        return Outcome("running", process)
    if refused is not None:
        return refused
    if (folder / FAILURE).exists():
        try:
            failure = plain_json.read(folder / FAILURE)
            return Outcome("failed", f"{failure['kind']}: {failure['reason']}")
        except (ValueError, KeyError, TypeError):
            return Outcome("failed", f"{folder / FAILURE} cannot be read")
    return Outcome("unfinished" if (folder / CONFIG).exists() else "missing")


def _on_fakes(config: Mapping[str, Any]) -> bool:
    from t3cen.data.fakes import FAKE_MARK  # here: a result on fakes is rare, and this takes a while

    return (Path(config["data"]["root"]) / FAKE_MARK).exists()


def fail(folder: Path, kind: str, reason: str, trace: str = "") -> str:
    """Leave in the folder why the run did not finish: it `raised`, `exited` or was `killed`.

    Returns:
        the reason, and where it could not be left, why.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / FAILURE, {"kind": kind, "reason": reason, "traceback": trace, "time": now})
    except OSError as error:
        told = f"{reason} (this could not be left in {folder}: {error.strerror or error})"
        log.error("%s", told)
        return told
    return reason


def tidy(folder: Path) -> None:
    """Remove what processes that were killed left in a run's folder: drafts and, beside its result, checkpoints."""
    checkpoints = folder / CHECKPOINTS
    left = [draft for name in (RESULT, CONFIG, SITTINGS) for draft in folder.glob(f".{name}.*")]
    left += [draft for name in (JOB, FAILURE, TICKET) for draft in folder.glob(f".{name}.*") if _is_old(draft)]
    left += checkpoints.glob(".*.ckpt")
    if (folder / RESULT).exists():
        left += [checkpoints / LAST, checkpoints / PREVIOUS]
    for path in left:
        path.unlink(missing_ok=True)


def _is_old(draft: Path) -> bool:
    """Whether nobody can be writing it any more: whoever starts a run writes into its folder too."""
    try:
        return time.time() - draft.stat().st_mtime > OLD
    except FileNotFoundError:
        return False


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Where two configurations differ, as a phrase: `optimizer.lr 0.1 -> 0.01`."""
    before, after = _leaves(old), _leaves(new)
    keys = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    shown = [f"{key} {before.get(key)!r} -> {after.get(key)!r}" for key in keys[:3]]
    return ", ".join([*shown, *([f"{len(keys) - 3} more"] if len(keys) > 3 else [])])


def _leaves(config: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(config, Mapping) or not config:
        return {prefix.rstrip("."): config}
    found: dict[str, Any] = {}
    for key, value in config.items():
        if key not in NEUTRAL:
            found |= _leaves(value, f"{prefix}{key}.")
    return found
