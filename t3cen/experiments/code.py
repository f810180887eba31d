"""The code that decides what comes out of a run: what its configuration names, and whatever that imports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from t3cen.experiments.closure import Closure

PACKAGE = Path(__file__).parents[1]
LOOP = ("t3cen.training.run", "_train_and_test")
"""What every run executes."""
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


def _targets(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        target = value.get("_target_")
        if isinstance(target, str) and target.startswith("t3cen."):
            yield target
        for item in value.values():
            yield from _targets(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _targets(item)


def parts(config: Mapping[str, Any], package: Path = PACKAGE) -> dict[str, str]:
    """The files that decide what comes out of the run `config`, each with a digest of what it says of that run.

    Imports are followed as they are written, inside functions too; from a package's `__init__` the name alone that is imported.
    C counts with the modules of its folder. Libraries outside t3cen are told by their versions, not here.

    Args:
        config: a resolved configuration.
        package: the folder `t3cen`.

    Raises:
        ValueError: the configuration names what the package has not.
    """
    return _parts(choices(config), package)


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
        return _todays(choices(config))
    except ValueError:
        return None


@cache
def _todays(chosen: tuple[str, ...]) -> str:
    return fingerprint(_parts(chosen))


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The files in which two `parts` differ."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
