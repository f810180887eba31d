"""The times a run was started: all with the same code and the same data, or refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from t3cen.experiments.code import changed
from t3cen.experiments.identity import data_hash, data_identity
from t3cen.training.files import read_json, write_json
from t3cen.training.outcome import SITTINGS, changes

_KEPT = ("commit", "dirty", "code_hash")


def sit_down(folder: Path, code: Mapping[str, Any], data: Mapping[str, Any], *, goes_on: bool) -> list[dict[str, Any]]:
    """Note in the run's folder that it is started, and with what.

    Args:
        code: of `provenance.code_version`.
        data: the provenance of the data.
        goes_on: whether from a checkpoint, so that earlier sittings are part of the result.

    Returns:
        all sittings that are part of the result, this one last: `started`, `commit`, `dirty`, `code_hash`, and `data`, the
            `identity.data_hash` of its data.

    Raises:
        ValueError: the checkpoint is of other code or other data; the message says what changed.
    """
    path = folder / SITTINGS
    before = read_json(path) if goes_on else {}
    told = json.loads(json.dumps(data_identity(data)))
    if goes_on:
        way_out = f"delete {folder / 'checkpoints'} to train the run anew, or bring back what it was begun with"
        if not {"code", "data", "sittings"} <= before.keys():
            raise ValueError(f"{path} is gone or damaged, which said with what code and data the checkpoint was made; {way_out}")
        if files := changed(before["code"], code["code"]):
            shown = ", ".join([*files[:3], *([f"{len(files) - 3} more"] if len(files) > 3 else [])])
            raise ValueError(f"the code changed since the run was begun ({shown}); {way_out}")
        if before["data"] != told:
            raise ValueError(f"the data changed since the run was begun ({changes(before['data'], told)}); {way_out}")
    started = datetime.now(UTC).isoformat(timespec="seconds")
    now = {"started": started, **{key: code[key] for key in _KEPT}, "data": data_hash(data)}
    sittings = [*before.get("sittings", []), now]
    write_json(path, {"code": code["code"], "data": told, "sittings": sittings})
    return sittings
