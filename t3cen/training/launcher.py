"""Hydra's launcher for this machine: runs as processes, some at a time."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from t3cen.progress import Progress, logs_beside
from t3cen.training.job import POLL, Child
from t3cen.training.look import missing_data
from t3cen.training.plan import Job, compose
from t3cen.training.signals import Stopped, asked

log = logging.getLogger(__name__)

PATIENCE = 60.0
"""Seconds a sweep that was asked to stop waits for its runs to save themselves."""


class Processes(Launcher):
    """Each run is a process; `n_jobs` of them at once, -1 for as many as there are processors.

    Attributes:
        notes: by folder, what became of runs whose folders cannot say it.
    """

    def __init__(self, n_jobs: int = 1) -> None:
        if n_jobs < 1 and n_jobs != -1:
            raise ValueError(f"hydra.launcher.n_jobs is the number of runs at once, at least 1 (or -1), got {n_jobs}")
        self.n_jobs = n_jobs if n_jobs > 0 else os.cpu_count() or 1
        self.notes: dict[Path, str] = {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config = hydra_context, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run them all.

        Raises:
            Stopped: this process was asked to stop; the runs that had begun have saved themselves, or had a minute to.
        """
        waiting = [compose(self.hydra_context, self.config, overrides) for overrides in job_overrides]
        running: list[Child] = []
        with logs_beside(), Progress("runs", total=len(waiting), unit="run", every=0, smoothing=0) as progress:
            absent = missing_data(waiting)
            self.notes |= absent
            waiting = [job for job in waiting if job.folder not in absent]
            while (number := asked()) is None and (waiting or running):
                while waiting and len(running) < self.n_jobs:
                    running += self._start(waiting.pop(0))
                running = self._still(running, POLL)
                if ended := progress.total - len(waiting) - len(running) - progress.n:
                    progress.update(ended)
        for child in running:
            child.ask()
        end = time.monotonic() + PATIENCE
        while running and time.monotonic() < end:
            running = self._still(running, POLL)
        if number is not None:
            raise Stopped(number)
        return []

    def _start(self, job: Job) -> list[Child]:
        log.info("%s: starts, %s", job.title, job.folder)
        try:
            return [Child(job)]
        except OSError as error:
            self.notes[job.folder] = f"cannot be started: {error}"
            log.error("%s: %s", job.title, self.notes[job.folder])
            return []

    def _still(self, running: list[Child], seconds: float) -> list[Child]:
        """Those of the children that go on after so many seconds."""
        still = []
        for child in running:
            if child.wait(seconds / len(running)) is None:
                still.append(child)
            elif child.note:
                self.notes[child.job.folder] = child.note
        return still
