"""How long is left: steps still to go times seconds a step, measured on one device."""

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from t3cen.data import DATA_SETS
from t3cen.experiments import Run
from t3cen.experiments.composition import compose
from t3cen.experiments.consistency import is_number
from t3cen.experiments.record import Record
from t3cen.training.files import read_json

log = logging.getLogger(__name__)
STEP_TIMES = Path("measured", "step_times.json")


def training_images(target: str) -> int | None:
    """Published size of the training set of a class of t3cen.data; None for another class, or where none is published."""
    made = DATA_SETS.get(target.rpartition(".")[2])
    return None if made is None else made.training_images or made.published.get("train")


def steps_of(config: Mapping[str, Any]) -> int | None:
    """Optimisation steps of a composed configuration, or None where the length of an epoch is not known."""
    trainer, data = config["trainer"], config["data"]
    lengths = []
    if (trainer.get("max_steps") or 0) > 0:
        lengths.append(trainer["max_steps"])
    if (trainer.get("max_epochs") or 0) > 0:
        images = data.get("train_size") or training_images(data["_target_"])
        if images is not None:
            lengths.append(trainer["max_epochs"] * math.ceil(images / data["batch_size"]))
    return min(lengths, default=None)


@dataclass
class Clock:
    """Seconds a step of each run takes, and steps it has, at one scale and on one device.

    A run that was never timed is taken to need what its network needs on the data set's other timed runs: the median of
    the same family and group, or failing that, of all of them.

    Args:
        scale: records of other scales are not looked at.
        device: a part of the device's name; None takes every device, which mixes them.
        floor: seconds of a step of a configuration where nothing comparable was timed (`analysis.roofline`), or None.
    """

    scale: str
    device: str | None = None
    floor: Callable[[Mapping[str, Any]], float] | None = None
    estimated: set[str] = field(default_factory=set)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    steps: dict[str, int] = field(default_factory=dict)
    devices: Counter[str] = field(default_factory=Counter)
    _declared: dict[str, int | None] = field(default_factory=dict)
    _floors: dict[str, float] = field(default_factory=dict)

    def learn(self, records: Iterable[Record]) -> None:
        """Take in the steps and step times of finished runs."""
        for record in records:
            if record.scale == self.scale and all(change.startswith("data.source=") for change in record.changes):
                self.steps[record.name] = int(record.content.get("steps") or 0)
                self.add(str(record.content.get("device", "unknown")), record.name, record.content.get("step_seconds"))

    def add(self, device: str, name: str, seconds: float | None) -> None:
        """Take in one step time."""
        if seconds and (self.device is None or self.device.lower() in device.lower()):
            self.devices[device] += 1
            self.seconds[name].append(seconds)

    def total_steps(self, run: Run, others: Mapping[str, Run]) -> int | None:
        """Steps of a whole run: its own, those of a finished run on the same data, or those its configuration says, if any."""
        same_data = [name for name in self.steps if name in others and others[name].data == run.data]
        for name in (run.name, *same_data):
            if self.steps.get(name):
                return self.steps[name]
        if run.name not in self._declared:
            self._declared[run.name] = steps_of(compose(run, self.scale))
        return self._declared[run.name]

    def step_seconds(self, run: Run, others: Mapping[str, Run]) -> float | None:
        """Seconds a step takes, or None where nothing comparable was timed."""
        if own := self.seconds.get(run.name):
            return median(own)
        same_data = [name for name in self.seconds if name in others and others[name].data == run.data]
        alike = [name for name in same_data if (others[name].model, others[name].group) == (run.model, run.group)]
        values = [value for name in alike or same_data for value in self.seconds[name]]
        if values or self.floor is None:
            return median(values) if values else None
        self.estimated.add(run.name)
        if run.name not in self._floors:
            self._floors[run.name] = self.floor(compose(run, self.scale))
        return self._floors[run.name]

    def hours(self, run: Run, done: int, others: Mapping[str, Run]) -> float | None:
        """Hours that a run with `done` steps behind it still takes, or None where that cannot be told."""
        total, seconds = self.total_steps(run, others), self.step_seconds(run, others)
        return None if total is None or seconds is None else max(total - done, 0) * seconds / 3600


def step_times(outputs: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Step times that were measured alone (scripts/status.py --measure), as `{device: {scale: {run: seconds}}}`."""
    path, whole = outputs / STEP_TIMES, {}
    for device, scales in read_json(path).items():
        if isinstance(scales, dict) and all(map(_are_times, scales.values())):
            whole[device] = scales
        else:
            log.warning("%s: what it holds of %s is no {scale: {run: seconds}} and is left out", path, device)
    return whole


def _are_times(times: Any) -> bool:
    return isinstance(times, dict) and all(is_number(seconds) and seconds >= 0 for seconds in times.values())
