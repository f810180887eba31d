"""The code that decides what comes out of a run: what its configuration names, and whatever that imports."""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from t3cen.experiments.closure import Closure

PACKAGE = Path(__file__).parents[1]
LOOP = ("t3cen.training.run", "_train_and_test")
"""What every run executes."""
_LIBRARY, _PACKAGES = Path(sysconfig.get_path("stdlib")).resolve(), {"site-packages", "dist-packages"}
"""Python's own modules, and the names of folders that packages are installed in."""
MODELS = "t3cen.models"
"""Where networks and the ways colour enters are defined, of which a configuration names one each."""
LIBRARIES = "t3cen.libraries"
"""Where the networks of other libraries are, such as `torchvision/resnet18`."""
BY_NAME = frozenset({"t3cen.models.families", "t3cen.models.registry", "t3cen.training.run"})
"""Modules of alternatives, or of more than training and testing: only the definitions that are used count."""
BESIDE = frozenset(
    {
        "t3cen.data.download", "t3cen.data.errors", "t3cen.data.fakes", "t3cen.data.preparation",
        "t3cen.experiments", "t3cen.extras", "t3cen.progress", "t3cen.project", "t3cen.registry", "t3cen.training.allocator",
        "t3cen.training.callbacks", "t3cen.training.cost", "t3cen.training.errors", "t3cen.training.files",
        "t3cen.training.final",
        "t3cen.training.loggers", "t3cen.training.mirror", "t3cen.training.outcome", "t3cen.training.plan",
        "t3cen.training.provenance", "t3cen.training.sealed", "t3cen.training.signals", "t3cen.training.sittings",
    }
)  # fmt: skip
"""What a run imports too, and what decides no number: it watches the run, names it, or puts files in place before it."""


def choices(config: Mapping[str, Any]) -> tuple[str, ...]:
    """What of a configuration decides which code runs: the things of t3cen it names, then its network and its family.

    Raises:
        ValueError: it names no network or no family.
    """
    model = config.get("model")
    backbone, family = config.get("backbone"), model.get("family") if isinstance(model, Mapping) else None
    if not (isinstance(backbone, str) and isinstance(family, str)):
        raise ValueError(f"a configuration with backbone {backbone!r} and model.family {family!r} names no network")
    return (*sorted(set(_targets(config))), backbone, family)


def _targets(value: Any, *, own: bool = False) -> Iterator[str]:
    """What of t3cen a configuration names, or with `own` what it names of other modules."""
    if isinstance(value, Mapping):
        target = value.get("_target_")
        if isinstance(target, str) and target.startswith("t3cen.") is not own:
            yield target
        for item in value.values():
            yield from _targets(item, own=own)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _targets(item, own=own)


def parts(config: Mapping[str, Any], package: Path = PACKAGE) -> dict[str, str]:
    """The files that decide what comes out of the run `config`, each with a digest of what it says of that run.

    Imports are followed as they are written, inside functions too; from a package's `__init__` the name alone that is imported.
    C counts with the modules of its folder. Of a person's own modules that it names, all files count (`own_parts`). Installed
    libraries are told by their versions, not here.

    Args:
        config: a resolved configuration.
        package: the folder `t3cen`.

    Raises:
        ValueError: the configuration names what the package has not.
    """
    return {**_parts(choices(config), package), **own_parts(config)}


def own_parts(config: Mapping[str, Any]) -> dict[str, str]:
    """The files of modules that are neither t3cen's nor installed and that `config` names: a loss, an optimiser of one's own.

    Returns:
        each file of the module or the package it is in, named from the folder it lies in on, with a digest of it. What those
        import from elsewhere is not followed.
    """
    found: dict[str, str] = {}
    for top in sorted({target.partition(".")[0] for target in _targets(config, own=True)}):
        try:
            spec = find_spec(top) if top.isidentifier() else None
        except (ImportError, ValueError):
            spec = None
        if spec is None or not spec.has_location or spec.origin is None:
            continue
        file = Path(spec.origin).resolve()
        if file.suffix != ".py" or file.is_relative_to(_LIBRARY) or not _PACKAGES.isdisjoint(file.parts):
            continue
        home = file.parent.parent if spec.submodule_search_locations else file.parent
        files = sorted(file.parent.rglob("[!.]*.py")) if spec.submodule_search_locations else [file]
        found |= {path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in files}
    return found


def _parts(chosen: tuple[str, ...], package: Path = PACKAGE) -> dict[str, str]:
    *targets, backbone, family = chosen
    network, of_library, _ = backbone.partition("/")
    closure = Closure(package, by_name=BY_NAME, beside=BESIDE, chosen=frozenset({network, family}))
    closure.use(*LOOP)
    for target in targets:
        closure.use_target(target)
    closure.use_entry(LIBRARIES if of_library else MODELS, network)
    closure.use_entry(MODELS, family)
    return closure.digests()


def fingerprint(files: Mapping[str, str]) -> str:
    """One name for the code of a run: equal where no file of `parts` differs."""
    return hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in sorted(files.items())).encode()).hexdigest()


def todays(config: Mapping[str, Any]) -> str | None:
    """The fingerprint of the code on disk for the run `config`; None where t3cen has no such class, network or family."""
    try:
        return fingerprint({**_todays(choices(config)), **own_parts(config)})
    except ValueError:
        return None


@cache
def _todays(chosen: tuple[str, ...]) -> dict[str, str]:
    return _parts(chosen)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The files in which two `parts` differ."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
