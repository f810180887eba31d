"""Learning-rate schedules over the whole training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.utils import instantiate
from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler, MultiStepLR

from t3cen.task import SchedulerFactory


def _cosine(optimizer: Optimizer, steps: int) -> LRScheduler:
    return CosineAnnealingLR(optimizer, T_max=steps)


SCHEDULES: dict[str, SchedulerFactory] = {"cosine": _cosine}


def step(optimizer: Optimizer, steps: int, after: Sequence[float], factor: float) -> LRScheduler:
    """The learning rate times `factor` after each of these shares of `steps`.

    Raises:
        ValueError: a share outside (0, 1).
    """
    if not all(0 < share < 1 for share in after):
        raise ValueError(f"scheduler.after lists shares of the training, between 0 and 1, got {list(after)}")
    return MultiStepLR(optimizer, [round(share * steps) for share in after], gamma=factor)


def schedule(chosen: str | Mapping[str, Any] | None) -> SchedulerFactory | None:
    """The schedule `chosen`, or None for a constant rate.

    Args:
        chosen: a name (`"cosine"`: from the learning rate to 0, a step at a time), or a `_target_` with `_partial_: true`
            that is called with the optimiser and the number of steps.

    Raises:
        ValueError: no such schedule.
    """
    if chosen is None:
        return None
    if isinstance(chosen, Mapping):
        factory: SchedulerFactory = instantiate(chosen)
        return factory
    if chosen not in SCHEDULES:
        raise ValueError(f"unknown scheduler {chosen!r}; known: null, {', '.join(SCHEDULES)}")
    return SCHEDULES[chosen]
