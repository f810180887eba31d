"""Objects from a configuration that was read back: only what this project's own conf/ names is made.

Hydra calls whatever `_target_` says. A record, or a folder of them, may come from anybody.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from t3cen.experiments.composition import CONF, contribution


class Untrusted(ValueError):
    """A configuration that asks for what conf/ does not name; the message says what."""


def trusted(config: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The parts `keys` of a configuration that was read back, fit for `hydra.utils.instantiate`.

    Raises:
        Untrusted: Hydra's own keys in them (`_target_`, `_args_`, ...) are not as some file of conf/ has them at that very place,
            or a text would be interpolated.
    """
    parts = {key: config[key] for key in keys}
    for place, value in _leaves(parts):
        if any(name.startswith("_") for name in place) and (place, value) not in _named(CONF):
            raise Untrusted(f"its configuration has {'.'.join(place)}={value!r}, which no file of conf/ has; it is not made")
        if isinstance(value, str) and "${" in value:
            raise Untrusted(f"its configuration has {'.'.join(place)}={value!r}, which is no plain value; it is not made")
    return parts


@cache
def _named(conf: Path) -> frozenset[tuple[tuple[str, ...], Any]]:
    """Every key of Hydra's own in the files of `conf`, with its place in the composed configuration and its value."""
    files = (path for path in conf.rglob("[!.]*.yaml") if path.parent != conf / "table")
    leaves = (leaf for path in files for leaf in _leaves(contribution(path, conf)))
    return frozenset((place, value) for place, value in leaves if any(name.startswith("_") for name in place))


def _leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, (*place, str(key)))
    elif isinstance(value, list | tuple) and value:
        for number, item in enumerate(value):
            yield from _leaves(item, (*place, str(number)))
    else:
        yield place, str(value) if isinstance(value, Mapping | list | tuple) else value
