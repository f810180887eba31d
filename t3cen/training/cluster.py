"""Hydra's submitit launchers for runs: every job is waited for, however others end, and the code is a snapshot."""

from __future__ import annotations

import getpass
import logging
import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn
from hydra_plugins.hydra_submitit_launcher.submitit_launcher import BaseSubmititLauncher

from t3cen.progress import Progress, logs_beside
from t3cen.training.files import read_json, write_json, writer
from t3cen.training.job import POLL, ending, environment
from t3cen.training.launcher import PATIENCE
from t3cen.training.look import missing_data
from t3cen.training.outcome import FAILURE, TICKET, fail, outcome
from t3cen.training.plan import Job, compose
from t3cen.training.signals import Stopped, asked, held, pause, stop_if_asked
from t3cen.training.snapshot import snapshot

log = logging.getLogger(__name__)

_OURS = ("submitit_folder", "max_num_timeout", "parallel", "max_array_size", "poll_seconds", "look_for_data")
_COMMON = ("name", "timeout_min", "mem_gb", "nodes", "cpus_per_task", "gpus_per_node", "tasks_per_node")


class _Cluster(BaseSubmititLauncher):
    """What both have in common.

    Attributes:
        notes: by folder, what became of runs whose folders cannot say it.
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.notes: dict[Path, str] = {}

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        assert self.config is not None
        assert self.hydra_context is not None
        jobs = [compose(self.hydra_context, self.config, overrides) for overrides in job_overrides]
        if self.params.get("look_for_data", True):
            absent = missing_data(jobs)
            self.notes |= absent
            jobs = [job for job in jobs if job.folder not in absent]
        if not jobs:
            return []
        outputs = Path(str(self.config.hydra.sweep.dir))
        code = snapshot(outputs)
        log.info("the code of these jobs is %s", code)
        ready = []
        for job in jobs:
            try:
                job.folder.mkdir(parents=True, exist_ok=True)
                (job.folder / FAILURE).unlink(missing_ok=True)
                ready.append(job)
            except OSError as error:
                self.notes[job.folder] = f"cannot be started: {error}"
        self._run(ready, code)
        return []

    def _run(self, jobs: list[Job], code: Path) -> None:
        raise NotImplementedError

    def _executor(self, code: Path, **more: Any) -> Any:
        import submitit  # here: Hydra looks at every plugin at every start

        kind = self._EXECUTOR
        own = {f"{kind}_max_num_timeout": self.params["max_num_timeout"]} if "max_num_timeout" in self.params else {}
        executor = submitit.AutoExecutor(folder=self.params["submitit_folder"], cluster=kind, **own)
        given = {key: value for key, value in self.params.items() if key not in _OURS and value is not None}
        given |= more
        executor.update_parameters(**{key if key in _COMMON else f"{kind}_{key}": value for key, value in given.items()})
        return executor


class Local(_Cluster):
    """Submitit on this machine, `parallel` runs at a time."""

    _EXECUTOR = "local"

    def _run(self, jobs: list[Job], code: Path) -> None:
        from t3cen.training.cluster_job import ClusterJob

        executor = self._executor(code)
        waiting = list(jobs)
        running: list[tuple[Job, Any]] = []
        with logs_beside(), Progress("runs", total=len(jobs), unit="run", every=0, smoothing=0) as progress:
            while waiting or running:
                while waiting and len(running) < self.params["parallel"]:
                    job = waiting.pop(0)
                    with _environment(code), held():
                        running.append((job, executor.submit(ClusterJob(job, driver=os.getpid()))))
                pause(POLL)
                if number := asked():
                    _ask(running)
                    raise Stopped(number)
                for job, handle in [pair for pair in running if pair[1].done()]:
                    running.remove((job, handle))
                    _close(job, f"its process ended without a word, see {handle.paths.stderr}")
                    log.info("%s: %s", job.title, ending(job))
                    progress.update()


def _ask(running: list[tuple[Job, Any]]) -> None:
    """End the processes between this one and its runs, which follow them, and give the runs time to save themselves."""
    for _, handle in running:
        handle._process.kill()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and any(handle._process.poll() is None or writer(job.folder) for job, handle in running):
        time.sleep(POLL)


class Slurm(_Cluster):
    """One array of SLURM jobs, or several where a site limits their size.

    Jobs are watched by `squeue`, so a cluster without accounting will do. Runs whose jobs are still queued from an earlier
    call are not submitted again but waited for.
    """

    _EXECUTOR = "slurm"

    def _run(self, jobs: list[Job], code: Path) -> None:
        from t3cen.training.cluster_job import ClusterJob

        known = _queue() or set()
        tickets = {job.folder: ticket for job in jobs if (ticket := _ticket(job.folder)) in known}
        if tickets:
            log.info("%d of them are queued already", len(tickets))
        new = [job for job in jobs if job.folder not in tickets]
        size = self.params["max_array_size"]
        arrays = [new[i : i + size] for i in range(0, len(new), size)]
        try:
            for array in arrays:
                setup = [
                    *(f"export {key}={shlex.quote(value)}" for key, value in _code_variables(code).items()),
                    *self.params["setup"],
                ]
                parallel = max(1, self.params["array_parallelism"] // len(arrays))
                executor = self._executor(code, setup=setup, array_parallelism=parallel)
                with executor.batch():
                    handles = [executor.submit(ClusterJob(job, self.params.get("signal_delay_s"))) for job in array]
                for job, handle in zip(array, handles, strict=True):
                    tickets[job.folder] = handle.job_id
                    write_json(job.folder / TICKET, {"job_id": handle.job_id, "log": str(handle.paths.stderr), "code": str(code)})
                log.info("submitted as job %s: %s", handles[0].job_id.split("_")[0], ", ".join(job.title for job in array))
        finally:
            self._wait([job for job in jobs if job.folder in tickets], tickets)

    def _wait(self, jobs: list[Job], tickets: dict[Path, str]) -> None:
        """Until every job has its result or has left the queue."""
        absent: dict[Path, int] = {}
        running = list(jobs)
        with logs_beside(), Progress("runs", total=len(jobs), unit="run", every=0, smoothing=0) as progress:
            while running and asked() is None:
                pause(self.params["poll_seconds"])
                queue = _queue()
                for job in list(running):
                    ended = outcome(job.folder, job.config).state == "done"
                    if not ended and queue is not None:
                        absent[job.folder] = 0 if tickets[job.folder] in queue else absent.get(job.folder, 0) + 1
                        # twice, since the file system may show a result later than the queue shows its end
                        if ended := absent[job.folder] == 2:
                            _close(job, f"SLURM job {tickets[job.folder]} {_ending(tickets[job.folder])}")
                    if ended:
                        running.remove(job)
                        log.info("%s: %s", job.title, ending(job))
                        progress.update()
        if running:
            ids = " ".join(sorted({tickets[job.folder].split("_")[0] for job in running}))
            log.warning(
                "%d runs stay in the queue; the same command waits for them again, `scancel %s` ends them", len(running), ids
            )
        stop_if_asked()


def _close(job: Job, ending: str) -> None:
    """Leave a reason in the folder of a run that ended and left none itself."""
    if outcome(job.folder, job.config).state in ("missing", "unfinished"):
        fail(job.folder, "killed", ending)


def _queue() -> set[str] | None:
    """The ids of this user's jobs that are waiting, running or ending; None while SLURM does not answer."""
    command = ["squeue", "--noheader", "--array", "--user", getpass.getuser(), "--format", "%i"]
    try:
        return set(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split())
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("squeue does not answer (%s)", error)
        return None


def _ending(job_id: str) -> str:
    """How a job ended, by SLURM's controller, which remembers it for some minutes, or its accounting, where there is one."""
    questions = (
        ["scontrol", "--oneliner", "show", "job", job_id],
        ["sacct", "-X", "-n", "-P", "-o", "State,ExitCode", "-j", job_id],
    )
    for command in questions:
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            continue
        if found := re.search(r"JobState=(\S+) Reason=(\S+)", answer):
            code = re.search(r" ExitCode=(\S+)", answer)
            return f"{found[1]} (reason {found[2]}, exit code {code[1] if code else '?'})"
        if answer:
            return answer
    return "left the queue without a result"


def _ticket(folder: Path) -> str | None:
    """The SLURM job that was last submitted for a folder."""
    job_id = read_json(folder / TICKET).get("job_id")
    return job_id if isinstance(job_id, str) else None


def _code_variables(code: Path) -> dict[str, str]:
    changed = environment(code)
    return {key: changed[key] for key in ("PYTHONPATH", "PYTHONSAFEPATH")}


@contextmanager
def _environment(code: Path) -> Iterator[None]:
    """Have processes started inside find the code in `code`."""
    before = dict(os.environ)
    os.environ.update(_code_variables(code))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
