"""What a cluster's node runs: one run in a child process, saved and queued again when its time is up."""

from __future__ import annotations

import os
import signal
import subprocess
import time

from submitit.core.utils import DelayedSubmission, UncompletedJobError

from t3cen.training.job import in_child
from t3cen.training.outcome import fail
from t3cen.training.plan import Job
from t3cen.training.signals import INTERRUPTED, follow_parent

GRACE = 600.0
"""Seconds a run may take to save itself; the cluster kills it earlier if it must."""


class ClusterJob:
    """A job for submitit; pickled when it is submitted, so its configuration is that of this moment."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._child: subprocess.Popen[bytes] | None = None

    def __call__(self) -> int:
        if "SLURM_JOB_ID" not in os.environ:
            follow_parent(signal.SIGKILL)  # submitit lets this process ignore gentler ones; the run, which follows it, is asked
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

    def _started(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child

    def checkpoint(self) -> DelayedSubmission:
        """Called by submitit on a time limit or a preemption: wait until the run has saved itself, then queue the same again."""
        child = self._child
        if child is not None and child.poll() is None:
            child.send_signal(signal.SIGUSR2)  # once more, in case it went to this process alone
            end = time.monotonic() + GRACE
            # Not child.wait: this runs inside a signal handler that has interrupted just that.
            ended = os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT
            while os.waitid(*ended) is None and time.monotonic() < end:
                time.sleep(0.1)
        return DelayedSubmission(ClusterJob(self.job))

    def __getstate__(self) -> dict[str, Job]:
        return {"job": self.job}

    def __setstate__(self, state: dict[str, Job]) -> None:
        self.__init__(state["job"])  # type: ignore[misc]
