"""What makes two runs the same run: their configuration, less what cannot change a result."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

NEUTRAL = frozenset({"accelerator", "checkpoint_every", "data_root", "logger", "num_workers", "outputs", "recompute", "root"})
"""Keys, at any depth, that say where, how fast or how loudly a run works, never what comes out of it."""
_ELSEWHERE = frozenset({"experiment", "sweep", "scale", "seed", "launcher"})
"""Overrides that a record or its folder names by other means, or that say where the run is started."""


_PLACES = frozenset({"root", "folder", "path"})
"""Keys of the provenance of data that say where they are kept, not what they are."""


def data_identity(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """What the data of a run are, wherever they lie: their provenance without places."""
    return {key: value for key, value in provenance.items() if key not in _PLACES}


def data_hash(provenance: Mapping[str, Any]) -> str:
    """SHA-256 of `data_identity`, the same for a provenance and for its copy read back from JSON."""
    return digest(json.loads(json.dumps(data_identity(provenance))))


def is_neutral(override: str) -> bool:
    """Whether a line of the command line (`trainer.accelerator=cpu`) leaves the run the one it would be without it."""
    parts = override.lstrip("+~").partition("=")[0].split(".")
    return parts[0].partition("/")[0] == "hydra" or parts[0] in _ELSEWHERE or not NEUTRAL.isdisjoint(parts)


def _essence(value: Any, without: frozenset[str]) -> Any:
    """A copy of a configuration without the keys of `without`, at any depth."""
    if isinstance(value, Mapping):
        return {key: _essence(item, without) for key, item in value.items() if key not in without}
    if isinstance(value, list | tuple):
        return [_essence(item, without) for item in value]
    return value


def config_hash(config: Mapping[str, Any]) -> str:
    """SHA-256 of a resolved configuration, the seed included, neutral keys left out.

    The same for a configuration and for its copy read back from JSON; the order of keys does not matter.

    Raises:
        TypeError: a value that JSON cannot hold (a path, a DictConfig): resolve the configuration to plain values first.
        ValueError: a NaN or an infinity.
    """
    return digest(_essence(config, NEUTRAL))


def setting_hash(config: Mapping[str, Any]) -> str:
    """`config_hash` without the seeds: equal for the repetitions of one setting, and only for them."""
    return digest(_essence(config, NEUTRAL | {"seed"}))


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of plain values, whatever the order of their keys. Raises as `config_hash`."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
