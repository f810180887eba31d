"""What a cluster's node runs: one run in a child process, saved and queued again when its time is up."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

from submitit.core.utils import DelayedSubmission, UncompletedJobError

from t3cen.training.job import Child, in_child
from t3cen.training.outcome import fail
from t3cen.training.plan import Job
from t3cen.training.signals import INTERRUPTED

GRACE = 600.0
"""Seconds a run may take to save itself; the cluster kills it earlier if it must."""


class ClusterJob:
    """A job for submitit; pickled when it is submitted, so its configuration is that of this moment.

    Args:
        job: the run.
        notice: seconds between SLURM's signal and the end of the time limit, if that is how long the run has to save itself.
        driver: the process without which the run is not to go on, where it is on this machine.
    """

    def __init__(self, job: Job, notice: float | None = None, driver: int | None = None) -> None:
        self.job, self.notice, self.driver = job, notice, driver
        self._child: Child | None = None

    def __call__(self) -> int:
        try:
            status = in_child(self.job, self._started)
        except UncompletedJobError as ending:  # submitit's signal handler, after the last of the time limits granted
            fail(self.job.folder, "killed", f"{ending} The same command goes on from its checkpoint.")
            raise
        if status == INTERRUPTED and "SLURM_JOB_ID" in os.environ:
            # SLURM asked with SIGTERM. A job that now ended by itself would count as completed; SLURM, left to end it, queues a
            # preempted one again and marks a cancelled one as such.
            time.sleep(GRACE)
        return status

    def _started(self, child: Child) -> None:
        self._child = child
        if self.driver is not None:
            threading.Thread(target=_ask_without, args=(child, {self.driver, os.getppid()}), daemon=True).start()

    def checkpoint(self) -> DelayedSubmission:
        """Called by submitit on a time limit or a preemption: wait until the run has saved itself, then queue the same again."""
        child = self._child
        if child is not None and child.process.poll() is None:
            child.ask(signal.SIGUSR2)  # once more, in case it went to this process alone
            # what is left of the notice is for queueing it again: what was not saved by then is lost, the run is not
            end = time.monotonic() + min(GRACE, 0.8 * (self.notice or GRACE))
            # Not child.wait: this runs inside a signal handler that has interrupted just that.
            ended = os.P_PID, child.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT
            while os.waitid(*ended) is None and time.monotonic() < end:
                time.sleep(0.1)
        return DelayedSubmission(ClusterJob(self.job, self.notice, self.driver))

    def __getstate__(self) -> dict[str, Any]:
        return {"job": self.job, "notice": self.notice, "driver": self.driver}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _ask_without(child: Child, processes: set[int]) -> None:
    """Ask the child to stop as soon as one of these processes is gone."""
    while all(map(_exists, processes)):
        time.sleep(0.5)
    child.ask()


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
