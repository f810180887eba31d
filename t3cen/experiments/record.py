"""A `result.json`: a whole, consistent record of a finished run, or refused with its reason."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from t3cen.experiments import code
from t3cen.experiments.identity import config_hash, data_identity, is_neutral, setting_hash

RESULT = "result.json"
SCHEMA = 1


class BadRecord(ValueError):
    """A `result.json` that cannot be trusted; the message says why."""


@dataclass(frozen=True)
class Record:
    """One finished run as its trainer wrote it."""

    path: Path
    content: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.content["name"]

    @property
    def scale(self) -> str:
        return self.content["scale"]

    @property
    def seed(self) -> int:
        return self.content["seed"]

    @property
    def config(self) -> Mapping[str, Any]:
        return self.content["config"]

    @property
    def tests(self) -> Mapping[str, Mapping[str, float]]:
        """`error` (a fraction), `correct`, `total` and `loss` of each test set."""
        return self.content["metrics"]["test"]

    @property
    def source(self) -> str:
        """Where the pictures came from: files, bundled, rendered, synthetic or fake."""
        return self.content["data_provenance"]["source"]

    @property
    def commit(self) -> str:
        return self.content.get("commit") or "unknown"

    @property
    def dirty(self) -> bool:
        return bool(self.content.get("dirty", False))

    @property
    def code(self) -> str:
        """A name for the code that decided the result: equal for records that may be averaged as far as code goes.

        The recorded fingerprint, or, for a record without one, the commit and whether it was altered.
        """
        return self.content.get("code_hash") or self.commit + ("+" if self.dirty else "")

    @property
    def is_of_todays_code(self) -> bool:
        """Whether that code is on disk now; never where the record has no fingerprint, or an older one of all of t3cen."""
        return self.code == code.todays(self.config)

    @property
    def changes(self) -> tuple[str, ...]:
        """Overrides of the command line that change what is trained, in no order that matters."""
        overrides = self.content.get("overrides") or ()
        return tuple(sorted(o for o in overrides if not is_neutral(o)))

    @cached_property
    def setting(self) -> str:
        """`identity.setting_hash` of the configuration: equal for the seeds of one setting."""
        return setting_hash(self.config)

    @cached_property
    def provenance(self) -> str:
        """What the data were, wherever they were kept, as one comparable string."""
        return json.dumps(data_identity(self.content["data_provenance"]), sort_keys=True)


def _no_nan(text: str) -> float:
    raise BadRecord(f"it holds {text}")


def read(path: Path) -> Record:
    """The record at `path`.

    Raises:
        BadRecord: no file, not JSON, another schema, keys missing or of another kind, a NaN, training cut short, a test set
            that does not add up, or a hash that is not that of its configuration.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_nan)
    except OSError as error:
        raise BadRecord(f"it cannot be read ({error.strerror})") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadRecord(f"it is not whole JSON ({error})") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise BadRecord(f"it has schema {content.get('schema') if isinstance(content, dict) else None!r}, {SCHEMA} expected")
    _check_keys(content)
    if content.get("status", "finished") != "finished":
        raise BadRecord(f"its status is {content['status']!r}, not finished")
    if short := cut_short(content["config"], content.get("steps"), content.get("epochs")):
        raise BadRecord(f"it is partial: {short}")
    for name, values in content["metrics"]["test"].items():
        _check_test(name, values)
    if content["config_hash"] != config_hash(content["config"]):
        raise BadRecord("its config_hash is not that of its configuration")
    return Record(path, content)


def _check_keys(content: Mapping[str, Any]) -> None:
    kinds: dict[str, type | tuple[type, ...]] = {
        "name": str, "scale": str, "seed": int, "metrics": dict, "config": dict, "config_hash": str, "data_provenance": dict,
    }  # fmt: skip
    for key, kind in kinds.items():
        if not isinstance(content.get(key), kind):
            raise BadRecord(f"{key!r} is missing or not a {kind}")
    optional: dict[str, type | tuple[type, ...]] = {
        "overrides": list, "versions": dict, "commit": str, "code_hash": str, "code": dict, "steps": int, "epochs": int,
        "parameters": int, "macs": int, "step_seconds": (int, float),
    }  # fmt: skip
    for key, kind in optional.items():
        if content.get(key) is not None and not isinstance(content[key], kind):
            raise BadRecord(f"{key!r} is {content[key]!r}, not a {kind}")
    if not all(isinstance(line, str) for line in content.get("overrides") or ()):
        raise BadRecord("'overrides' holds what is no line of a command line")
    if not isinstance(content["data_provenance"].get("source"), str):
        raise BadRecord("data_provenance names no source")
    if not isinstance(content["metrics"].get("test"), dict) or not content["metrics"]["test"]:
        raise BadRecord("it has no test results")
    trainer = content["config"].get("trainer", {})
    if not isinstance(trainer, dict):
        raise BadRecord(f"its configuration has the trainer {trainer!r}")
    for key in ("max_steps", "max_epochs"):
        if not isinstance(trainer.get(key, 0), int | None):
            raise BadRecord(f"its configuration has the trainer.{key} {trainer[key]!r}")


def cut_short(config: Mapping[str, Any], steps: int | None, epochs: int | None) -> str:
    """`2 of 3 epochs`, where training ended before either of the lengths its trainer was given; nothing where it did not."""
    trainer = config.get("trainer", {})
    ways = {"steps": (steps, trainer.get("max_steps")), "epochs": (epochs, trainer.get("max_epochs"))}
    planned = {unit: (done, length) for unit, (done, length) in ways.items() if done is not None and (length or 0) > 0}
    if any(done >= length for done, length in planned.values()) or _may_end_early(config):
        return ""
    return ", ".join(f"{done} of {length} {unit}" for unit, (done, length) in planned.items())


def _may_end_early(config: Mapping[str, Any]) -> bool:
    """Whether the configuration has a callback whose purpose is to end training before its length."""
    callbacks = config.get("callbacks") or {}
    return any(str(callback.get("_target_")).endswith("EarlyStopping") for callback in callbacks.values())


def _check_test(name: str, values: Mapping[str, Any]) -> None:
    try:
        error, correct, total = float(values["error"]), int(values["correct"]), int(values["total"])
    except (KeyError, TypeError, ValueError) as reason:
        raise BadRecord(f"test set {name!r} lacks error, correct or total ({reason!r})") from reason
    if not (total > 0 and 0 <= correct <= total and math.isclose(error, 1 - correct / total, abs_tol=1e-6)):
        raise BadRecord(f"test set {name!r} does not add up: error {error}, {correct} of {total} correct")
