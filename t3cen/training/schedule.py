"""Learning-rate schedules over the whole training, by name."""

from __future__ import annotations

from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

from t3cen.task import SchedulerFactory


def _cosine(optimizer: Optimizer, steps: int) -> LRScheduler:
    return CosineAnnealingLR(optimizer, T_max=steps)


SCHEDULES: dict[str, SchedulerFactory] = {"cosine": _cosine}


def schedule(name: str | None) -> SchedulerFactory | None:
    """The schedule called `name` (`"cosine"`: from the learning rate to 0, a step at a time), or None for a constant rate.

    Raises:
        ValueError: no such schedule.
    """
    if name is None:
        return None
    if name not in SCHEDULES:
        raise ValueError(f"unknown scheduler {name!r}; known: null, {', '.join(SCHEDULES)}")
    return SCHEDULES[name]
