"""The configuration that files of conf/ and changes make, in one place for training, results, tables and figures.

Hydra composes what has changes on a command line (`compose_with`): too slow for the hundreds of declared runs behind a folder
of results. `compose` lays the same files over each other in the order of conf/train.yaml's defaults list; tests hold it to
Hydra's own result.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from t3cen.experiments.identity import setting_hash
from t3cen.experiments.names import register
from t3cen.experiments.record import Record
from t3cen.experiments.runs import Run, all_runs
from t3cen.project import conf_dir

CONF = conf_dir()
_ENTRY = re.compile(r"(?P<optional>optional )?(?P<group>[\w/]+)(@(?P<package>\w+))?")
_CHOICE = re.compile(r"\$\{hydra:runtime\.choices\.(\w+)\}")
_HEADER = re.compile(r"^#\s*@package\s+(\S+)", re.M)


@cache
def _file(path: Path) -> tuple[str | None, dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    header = _HEADER.search(text)
    return header and header[1], OmegaConf.to_container(OmegaConf.create(text), resolve=False)  # type: ignore[return-value]


def contribution(path: Path, conf: Path) -> dict[str, Any]:
    """What one file of `conf` says, unresolved, at its place in the composed configuration."""
    header, content = _file(path)
    places = path.parent.relative_to(conf).parts if header is None else () if header == "_global_" else header.split(".")
    for place in reversed(places):
        content = {place: content}
    return content


def _layers(conf: Path, group: str, option: str, package: str | None) -> Iterator[dict[str, Any]]:
    """What conf/<group>/<option>.yaml contributes, the files of its own defaults list first."""
    header, content = _file(conf / group / f"{option}.yaml")
    body = {key: value for key, value in content.items() if key != "defaults"}
    where = package or header or group
    for entry in content.get("defaults", ["_self_"]):
        if entry == "_self_":
            yield body if where == "_global_" else {where: body}
        else:
            yield from _layers(conf, group, entry, package)


def _merge(low: Any, high: Any) -> Any:
    if isinstance(low, Mapping) and isinstance(high, Mapping):
        return {**low, **{key: _merge(low[key], value) if key in low else value for key, value in high.items()}}
    return high


def compose(run: Run, scale: str, conf: Path = CONF) -> dict[str, Any]:
    """The resolved configuration of `experiment=<run> scale=<scale>`, without Hydra's own node.

    Raises:
        FileNotFoundError: a file of the composition does not exist, such as that of an unknown scale.
        ValueError: conf/train.yaml's defaults list holds an entry of another form.
    """
    return deepcopy(_composed(run, scale, conf))


@cache
def _composed(run: Run, scale: str, conf: Path) -> dict[str, Any]:
    _, primary = _file(conf / "train.yaml")
    chosen = {"data": run.data, "model": run.model, "scale": scale, "experiment": run.name}
    chosen |= {"augment": run.augment} if run.augment else {}
    merged: dict[str, Any] = {}
    for entry in primary["defaults"]:
        if entry == "_self_":
            merged = _merge(merged, {key: value for key, value in primary.items() if key not in ("defaults", "hydra")})
            continue
        [(key, option)] = entry.items()
        match = _ENTRY.fullmatch(key)
        if match is None:
            raise ValueError(f"conf/train.yaml: this defaults entry is not understood here: {key!r}")
        if match["package"] is None:
            option = chosen.setdefault(match["group"], option)
        if option is None:
            continue
        if match["group"] == "experiment":
            merged = _merge(merged, {key: value for key, value in run.node.items() if key != "defaults"})
            continue
        option = re.sub(r"\$\{(\w+)\}", lambda found: str(chosen[found[1]]), option)
        if match["optional"] and not (conf / match["group"] / f"{option}.yaml").exists():
            continue
        for layer in _layers(conf, match["group"], option, match["package"]):
            merged = _merge(merged, layer)
    filled = _choose(merged, chosen)
    return OmegaConf.to_container(OmegaConf.create(filled), resolve=True)  # type: ignore[return-value]


def _choose(value: Any, chosen: Mapping[str, str]) -> Any:
    """`value` with Hydra's `${hydra:runtime.choices.<group>}` replaced by the chosen option."""
    if isinstance(value, Mapping):
        return {key: _choose(item, chosen) for key, item in value.items()}
    if isinstance(value, str) and _CHOICE.search(value):
        return _CHOICE.sub(lambda found: chosen[found[1]], value)
    return value


def compose_with(overrides: Sequence[str], conf: Path = CONF) -> dict[str, Any]:
    """The resolved configuration of `train.py <overrides>`, composed by Hydra, without Hydra's own node.

    Raises:
        hydra.errors.HydraException: the overrides do not compose.
    """
    register()
    GlobalHydra.instance().clear()
    with initialize_config_dir(version_base="1.3", config_dir=str(conf.resolve())):
        config = hydra_compose("train", list(overrides), return_hydra_config=True)
    chosen = {group: str(option) for group, option in config.hydra.runtime.choices.items()}
    plain = OmegaConf.to_container(OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"]), resolve=False)
    return OmegaConf.to_container(OmegaConf.create(_choose(plain, chosen)), resolve=True)  # type: ignore[return-value]


@cache
def todays_setting(name: str, scale: str, changes: tuple[str, ...] = (), conf: Path = CONF) -> str | None:
    """`identity.setting_hash` of what `experiment=<name>` composes to today, or None where it no longer composes."""
    run = all_runs().get(name)
    if run is None or not (conf / "scale" / f"{scale}.yaml").exists():
        return None
    try:
        if changes:
            return setting_hash(compose_with([f"experiment={name}", f"scale={scale}", *changes], conf))
        return setting_hash(compose(run, scale, conf))
    except (HydraException, OmegaConfBaseException, OSError, TypeError, ValueError):  # whatever changes a record may name
        return None


def is_current(record: Record, conf: Path = CONF) -> bool:
    """Whether the record's configuration is the one composed today."""
    return record.setting == todays_setting(record.name, record.scale, record.changes, conf)
