"""Values of a configuration that are checked before anything heavy is imported."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

MISSING = object()


@dataclass(frozen=True)
class Number:
    """What a key may hold: numbers of at least `least`, whole or not; `null` too where it is `optional`."""

    example: str
    least: float = -math.inf
    whole: bool = True
    optional: bool = False

    def holds(self, value: Any) -> bool:
        if value is None:
            return self.optional
        kinds = int if self.whole else int | float
        return isinstance(value, kinds) and not isinstance(value, bool) and value >= self.least

    def __str__(self) -> str:
        least = f" of at least {self.least:g}" if self.least > -math.inf else ""
        return f"{'a whole number' if self.whole else 'a number'}{least}{' or null' if self.optional else ''}"


NUMBERS = {
    "seed": Number("1999", least=0),
    "num_workers": Number("2", least=0),
    "lcer_frac_space": Number("0.2", least=0, whole=False),
    "data.batch_size": Number("128", least=1),
    "data.image_size": Number("32", least=1, optional=True),
    "data.train_size": Number("1000", least=1, optional=True),
    "data.test_size": Number("1000", least=1, optional=True),
    "model.width": Number("16", least=1, optional=True),
    "optimizer.lr": Number("0.001", least=0, whole=False),
    "optimizer.momentum": Number("0.9", least=0, whole=False),
    "optimizer.weight_decay": Number("1e-4", least=0, whole=False),
    "checkpoint_every.minutes": Number("5", least=0, whole=False),
    "checkpoint_every.steps": Number("500", least=1, optional=True),
    "trainer.max_epochs": Number("100", optional=True),
    "trainer.max_steps": Number("10000"),
    "trainer.num_nodes": Number("1", least=1),
}
"""Keys that hold numbers, and which. A key that a configuration does not have is not looked for."""
GROUP = re.compile(r"(h0*[1-9]\d*)?(s0*[1-9]\d*)?(l0*[1-9]\d*)?")
"""How a colour group is written. `ColorGroup.parse`, which takes the same, imports torch."""
FOLDERS = ("outputs", "data_root", "data.root")


def check(config: Mapping[str, Any], experiment: str | None = None) -> None:
    """Look at a resolved configuration.

    Args:
        experiment: the option chosen of the group `experiment`.

    Raises:
        ValueError: a value is of the wrong kind, names no module, or does not go with where the run was started; the message
            names the key, the value and what to write instead.
    """
    for key, number in NUMBERS.items():
        value = _get(config, key)
        if value is not MISSING and not number.holds(value):
            raise ValueError(f"{key}={_shown(value)} is not {number}; write for example {key}={number.example}")
    for key, target in _targets(config):
        module = target.partition(".")[0]
        if not module.isidentifier() or find_spec(module) is None:
            raise ValueError(
                f"{key}={target}: there is no module {module!r}; write module.Class of a file in a folder of PYTHONPATH"
            )
    group = _get(config, "model.group")
    if group is not MISSING and not GROUP.fullmatch(str(group).strip().lower()):
        raise ValueError(
            f"model.group={_shown(group)} names no colour group; write h, s, l in this order, each with its order, "
            "for example model.group=h4s4"
        )
    for key in FOLDERS:
        folder = str(_get(config, key))
        if folder.startswith("~"):
            home = os.path.expanduser(folder)
            raise ValueError(f"{key}={folder}: ~ is a home folder in a shell only; write \"{key}='{home}'\"")
    if experiment is not None:
        _check_experiment(config, experiment)
    _check_processes(config.get("trainer") or {})


def _check_experiment(config: Mapping[str, Any], experiment: str) -> None:
    if "experiment" in config:
        raise ValueError(f"experiment={experiment} does not begin with the line `# @package _global_`; add it to its file")
    if str(config.get("name", "")).endswith("_custom"):
        raise ValueError(
            f"experiment={experiment} sets no name, which its results lie under; add `name: {experiment}` to its file"
        )


def _check_processes(trainer: Mapping[str, Any]) -> None:
    """Several processes of a run that wants one would train it several times."""
    started, number = os.environ.get("SLURM_NTASKS", "1"), os.environ.get("SLURM_PROCID", "0")
    alone = str(trainer.get("devices", 1)) == "1" and trainer.get("num_nodes", 1) == 1
    if alone and number != "0":
        raise ValueError(
            f"SLURM started this run {started} times (SLURM_NTASKS), and trainer.devices=1 wants one process; "
            f"start it with srun --ntasks=1, or set trainer.devices={started}"
        )


def _get(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return MISSING
        value = value[part]
    return value


def _shown(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _targets(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every `_target_` with its key."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            where = f"{key}.{name}" if key else str(name)
            if name == "_target_" and isinstance(value, str):
                yield where, value
            else:
                yield from _targets(value, where)
