"""What was wrong on the command line of training, in one line: the key, the value, the remedy."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hydra.errors import ConfigCompositionException, MissingConfigException, OverrideParseException

from t3cen.experiments.schema import nearest
from t3cen.project import command, conf_dir

LISTED = 30
"""More options than this are not listed in a message."""
FOREIGN = re.compile(r"[^\w\s/\-\\+.$%*@?|:=,\[\](){}'\"]", re.ASCII)
"""What a value holds only between quotes, by the grammar of Hydra."""


def explain(error: Exception, config: Mapping[str, Any] | None = None, where: str = "") -> str:
    """The error as a line for the person who typed the command.

    Args:
        config: what was composed without the mistake, by default training's configuration; its keys are suggested.
        where: a person finds all keys.
    """
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = str(error.missing_cfg_file).rpartition("/")
        known = [name for name in error.options or () if name != "base"]
        if known:
            shown = f"{group}: {', '.join(known)}" if len(known) <= LISTED else f"{command('train')} --help lists them all"
            return f"no {group} {option!r}{nearest(option, known)} ({shown})"
    if isinstance(error, OverrideParseException):
        return _unreadable(str(error.override), error.message.splitlines()[0])
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; choose a folder that can be written, with outputs=FOLDER"
    cause = error.__cause__ if isinstance(error, ConfigCompositionException) and error.__cause__ else error
    key = getattr(cause, "full_key", None)
    text = " ".join(str(error).split("\n")[0].split())
    if text.startswith("Ambiguous value"):
        return f"{text}; several values need --multirun (-m)"
    if key and re.search("Could not override|not in struct|Key .* is not", f"{error} {cause}"):
        hint = where or f"{command('train')} --cfg job shows all, a + before a key adds it"
        known = list(_below(_training() if config is None else config))
        return f"no key {key!r} in the configuration{_meant(key, known)}; {hint}"
    return text or type(error).__name__


def _unreadable(override: str, said: str) -> str:
    key, separator, value = override.partition("=")
    if not separator:
        return f"{override!r} is no key=value; {command('train')} --help shows what can be set"
    if foreign := FOREIGN.search(key):
        return f"the key in {override!r} holds {foreign[0]!r}, no key does"
    if (foreign := FOREIGN.search(value)) and "'" not in value:
        return f"{key}={value}: {foreign[0]!r} is read only between quotes; write \"{key}='{os.path.expanduser(value)}'\""
    return f"cannot read {override!r}: {said}"


def _meant(key: str, known: Sequence[str]) -> str:
    """The keys that have this name further down, or a name like it."""
    name = key.rpartition(".")[2]
    if same := [other for other in known if other.rpartition(".")[2] == name]:
        return _listed(same)
    close = difflib.get_close_matches(key, [other for other in known if other.count(".") == key.count(".")], n=3, cutoff=0.5)
    names = difflib.get_close_matches(name, {other.rpartition(".")[2] for other in known}, n=1, cutoff=0.75)
    return _listed(close or [other for other in known if other.rpartition(".")[2] in names])


def _listed(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(names[:3])}?" if names else ""


def _training() -> Mapping[str, Any]:
    """The default configuration."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    GlobalHydra.instance().clear()
    with initialize_config_dir(version_base="1.3", config_dir=str(conf_dir())):
        return OmegaConf.to_container(compose("train"), resolve=False)  # type: ignore[return-value]


def _below(node: object, prefix: str = "") -> Iterator[str]:
    """Every key of a configuration."""
    if prefix:
        yield prefix
    for name, value in node.items() if isinstance(node, Mapping) else ():
        yield from _below(value, f"{prefix}.{name}" if prefix else str(name))
