"""A record held against itself: what it says twice must agree, and what it counts must add up."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from t3cen.experiments import code
from t3cen.experiments.identity import config_hash, data_hash
from t3cen.experiments.plain_json import BadFile

_KINDS: dict[str, type] = {
    "name": str, "scale": str, "seed": int, "metrics": dict, "config": dict, "config_hash": str, "data_provenance": dict,
}  # fmt: skip
_OPTIONAL: dict[str, type | tuple[type, ...]] = {
    "overrides": list, "versions": dict, "commit": str, "code_hash": str, "code": dict, "steps": int, "epochs": int,
    "parameters": int, "macs": int, "peak_memory_bytes": int, "step_seconds": (int, float), "wall_seconds": (int, float),
    "dirty": bool, "sittings": list, "started": str, "finished": str, "device": str,
}  # fmt: skip
_SPELLED: dict[type | tuple[type, ...], str] = {
    str: "a text", int: "a whole number", (int, float): "a number", bool: "true or false", dict: "a mapping", list: "a list",
}  # fmt: skip
_LIMITS = ("limit_train_batches", "limit_val_batches", "limit_test_batches")
"""Settings of Lightning's Trainer under which counts do not follow from the sizes of the sets; 1 is one batch, 1.0 all."""


class BadRecord(BadFile):
    """A record that cannot be trusted; the message says why."""


def check(content: Mapping[str, Any]) -> None:
    """Raise BadRecord where a record lacks something, or where two parts of it cannot both be right."""
    _check_kinds(content)
    if content.get("status", "finished") != "finished":
        raise BadRecord(f"its status is {content['status']!r}, not finished")
    _check_length(content)
    for kind in ("test", "validation"):
        _check_sets(content, kind)
    for key in ("name", "scale", "seed", "selection"):
        own, configured = content.get(key), content["config"].get(key)
        if key in content and own != configured:
            raise BadRecord(f"its {key} is {own!r}, that of its configuration {configured!r}")
    _check_code(content)
    if content["config_hash"] != config_hash(content["config"]):
        raise BadRecord("its config_hash is not that of its configuration")


def check_place(content: Mapping[str, Any], path: Path) -> None:
    """Raise BadRecord where `path` is that of another run: `<scale>/<name>/[<overrides>/]seed<seed>/result.json`."""
    *_, scale, name, changes, seed = ("", "", "", *path.absolute().parts[:-1])
    if not (seed.startswith("seed") and seed[4:].isdigit()):
        return  # a record by itself, wherever it was copied to
    own = content["scale"], content["name"], content["seed"]
    if int(seed[4:]) != own[2] or own[:2] not in ((scale, name), (name, changes)):
        raise BadRecord(f"it lies in {scale}/{name}/{changes}/{seed}, and is of {own[0]}/{own[1]}, seed {own[2]}")


def is_number(value: Any, kind: type | tuple[type, ...] = (int, float)) -> bool:
    """Whether a value is a finite number of this kind; a bool is none."""
    return isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)  # type: ignore[arg-type]


def _is(value: Any, kind: type | tuple[type, ...]) -> bool:
    return is_number(value, kind) if kind in (int, (int, float)) else isinstance(value, kind)


def _check_kinds(content: Mapping[str, Any]) -> None:
    for key, kind in _KINDS.items():
        if not _is(content.get(key), kind):
            raise BadRecord(f"{key!r} is missing or not {_SPELLED[kind]}")
    for key, wanted in _OPTIONAL.items():
        if content.get(key) is not None and not _is(content[key], wanted):
            raise BadRecord(f"{key!r} is {content[key]!r}, not {_SPELLED[wanted]}")
        if _is(content.get(key), (int, float)) and content[key] < 0:
            raise BadRecord(f"{key!r} is {content[key]}, less than nothing")
    for key in ("steps", "epochs"):
        if content.get(key) is None:
            raise BadRecord(f"it does not say how many {key} it trained")
    if not all(isinstance(line, str) for line in content.get("overrides") or ()):
        raise BadRecord("'overrides' holds what is no line of a command line")
    provenance = content["data_provenance"]
    if not isinstance(provenance.get("source"), str):
        raise BadRecord("data_provenance names no source")
    sizes = provenance.get("sizes", {})
    if not isinstance(sizes, dict) or not all(is_number(size, int) and size > 0 for size in sizes.values()):
        raise BadRecord(f"data_provenance has the sizes {sizes!r}")
    if not isinstance(content["metrics"].get("test"), dict) or not content["metrics"]["test"]:
        raise BadRecord("it has no test results")
    if not isinstance(content["metrics"].get("validation", {}), dict):
        raise BadRecord(f"its validation results are {content['metrics']['validation']!r}")
    trainer = content["config"].get("trainer", {})
    if not isinstance(trainer, dict):
        raise BadRecord(f"its configuration has the trainer {trainer!r}")
    for key in ("max_steps", "max_epochs"):
        if trainer.get(key) is not None and not is_number(trainer[key], int):
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


def _check_length(content: Mapping[str, Any]) -> None:
    config, steps, epochs = content["config"], content["steps"], content["epochs"]
    if short := cut_short(config, steps, epochs):
        raise BadRecord(f"it is partial: {short}")
    trainer, data = config.get("trainer", {}), config.get("data")
    for unit, done in (("steps", steps), ("epochs", epochs)):
        most = trainer.get(f"max_{unit}") or 0
        if done is not None and 0 < most < done:
            raise BadRecord(f"it trained {done} {unit}, of {most} in its configuration")
    images = content["data_provenance"].get("sizes", {}).get("train")
    batch = data.get("batch_size") if isinstance(data, dict) else None
    if images and isinstance(batch, int) and batch > 0 and steps is not None and not _partial(trainer):
        length = math.ceil(images / batch)
        if epochs != math.ceil(steps / length):
            raise BadRecord(f"it trained {steps} steps, {length} an epoch, and says {epochs} epochs")


def _partial(trainer: Mapping[str, Any]) -> bool:
    limits = [trainer.get(key) for key in _LIMITS]
    limited = any(limit is not None and not (isinstance(limit, float) and limit == 1) for limit in limits)
    return limited or trainer.get("accumulate_grad_batches") not in (None, 1)


def _check_sets(content: Mapping[str, Any], kind: str) -> None:
    """The counts of every test or validation set: they add up, and are of the sets the data had."""
    sets = content["metrics"].get(kind, {})
    for name, values in sets.items():
        _check_counts(f"{kind} set {name!r}", values)
    sizes = content["data_provenance"].get("sizes")
    if not sizes or _partial(content["config"].get("trainer", {})):
        return
    tests = {name.removeprefix("test/"): size for name, size in sizes.items() if name.startswith("test/")}
    others = {name: size for name, size in sizes.items() if name != "train" and not name.startswith("test/")}
    had = tests if kind == "test" else others
    for name in sorted({*had, *sets}):
        if name not in sets or name not in had:
            raise BadRecord(f"{kind} set {name!r} is {'in its data and has no result' if name in had else 'not in its data'}")
        if sets[name]["total"] != had[name]:
            raise BadRecord(f"{kind} set {name!r} counts {sets[name]['total']} pictures, its data has {had[name]}")


def _check_counts(what: str, values: Any) -> None:
    try:
        error, correct, total, loss = (values[key] for key in ("error", "correct", "total", "loss"))
    except (KeyError, TypeError) as reason:
        raise BadRecord(f"{what} lacks error, correct, total or loss ({reason!r})") from reason
    if not (is_number(correct, int) and is_number(total, int)):
        raise BadRecord(f"{what} counts {correct!r} of {total!r} correct, whole numbers expected")
    if not (is_number(error) and is_number(loss)):
        raise BadRecord(f"{what} has error {error!r} and loss {loss!r}, finite numbers expected")
    if not (total > 0 and 0 <= correct <= total and math.isclose(error, 1 - correct / total, abs_tol=1e-6)):
        raise BadRecord(f"{what} does not add up: error {error}, {correct} of {total} correct")


def _check_code(content: Mapping[str, Any]) -> None:
    """Code and data of every sitting are those of the record."""
    files, name = content.get("code"), content.get("code_hash")
    if files is not None and code.fingerprint(files) != name:
        raise BadRecord("its code_hash is not that of its code")
    sittings = content.get("sittings")
    for number, sitting in enumerate(sittings or (), start=1):
        if not isinstance(sitting, dict) or not isinstance(sitting.get("commit"), str):
            raise BadRecord(f"sitting {number} is {sitting!r}")
        if sitting.get("code_hash") != name:
            raise BadRecord(f"sitting {number} was of other code than the record")
        if "data" in sitting and sitting["data"] != data_hash(content["data_provenance"]):
            raise BadRecord(f"sitting {number} was of other data than the record")
    if sittings and content.get("dirty") != any(sitting.get("dirty") for sitting in sittings):
        raise BadRecord(f"'dirty' is {content.get('dirty')!r}, which its sittings do not say")
