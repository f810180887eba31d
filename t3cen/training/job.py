"""A run as a job: what becomes of it is written in its folder, however it ends."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from t3cen.experiments.record import read
from t3cen.progress import say
from t3cen.project import IS_INSTALLED, PROJECT
from t3cen.training.checks import check
from t3cen.training.closing import errors, summary
from t3cen.training.files import RunInProgress, no_link, write_json
from t3cen.training.outcome import FAILURE, JOB, LOG, RESULT, fail, outcome
from t3cen.training.plan import Job
from t3cen.training.signals import INTERRUPTED, KEYBOARD, Stopped, asked, follow, heed, held, stop_if_asked

log = logging.getLogger("t3cen.training.job")  # also where this file is __main__

BUSY = 76
"""Exit status of a run that another process is at work on."""
POLL = 0.2
"""Seconds between two looks at whether this process was asked to stop."""


def execute(config: DictConfig) -> None:
    """Hydra's task function: run here, or, in a sweep, in a process of its own."""
    hydra_config = HydraConfig.get()
    resolved: dict[str, Any] = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)  # type: ignore[assignment]
    job = Job(resolved, Path(hydra_config.runtime.output_dir), tuple(hydra_config.overrides.task))
    try:
        check(resolved, hydra_config.runtime.choices.get("experiment"))
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    if hydra_config.mode == RunMode.MULTIRUN:
        in_child(job)
    elif status := in_this_process(job):
        sys.exit(status)


def in_this_process(job: Job) -> int:
    """Run, leave the reason of a failure in `failure.json`, and return the exit status."""
    logging.getLogger("matplotlib").setLevel(logging.WARNING)  # Lightning imports it, and it tells of its first list of fonts
    try:
        from pytorch_lightning.utilities.rank_zero import rank_zero_only  # these take seconds to import

        from t3cen.training.errors import expected
        from t3cen.training.run import run
    except Exception as error:
        fail(job.folder, "raised", f"{type(error).__name__}: {error}", traceback.format_exc())
        raise
    others = bool(rank_zero_only.rank)  # type: ignore[attr-defined]  # of several processes of a run, not the first
    try:
        path = run(job)
        if not others:
            say(summary(read(path)))
        return 0
    except RunInProgress as error:
        log.error("%s", error)
        return BUSY
    except Stopped as stop:
        if others and "LOCAL_RANK" in os.environ:
            return 0  # else Lightning, which started it, kills the first one, which is still at work
        log.warning("stopped by %s; the same command goes on from the last checkpoint", stop)
        return int(stop.code or 0)
    except SystemExit as ending:
        fail(job.folder, "exited", f"the run exited with status {ending.code}", traceback.format_exc())
        raise
    except Exception as error:
        told = expected(error)
        fail(job.folder, "raised", f"{type(told or error).__name__}: {told or error}", traceback.format_exc())
        if told is None:
            raise
        log.error("%s (traceback in %s)", told, job.folder / FAILURE)
        return 1


class Child:
    """A run in a process of its own, whose death nothing else feels; its output goes to the folder's `train.log`.

    It notices when this process ends, saves itself and stops.

    Attributes:
        note: after it ended without giving one, the reason that was left for it.

    Raises:
        OSError: the folder cannot be written, or no process started.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        job.folder.mkdir(parents=True, exist_ok=True)
        write_json(job.folder / JOB, {"config": job.config, "overrides": job.overrides})
        self._before = _failure(job.folder)
        self.note = ""
        with open(job.folder / LOG, "a", opener=no_link) as output, held():
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(job.folder)],
                stdin=subprocess.PIPE,  # it ends with this process
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment(),
                start_new_session=True,  # Ctrl-C reaches it once, through this process
            )

    def ask(self, number: int = signal.SIGTERM) -> None:
        """Ask it to stop."""
        self.process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Its exit status, negative the signal that killed it; None if it goes on for longer."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return self._ended(status)

    def _ended(self, status: int) -> int:
        """See to it that the folder says how the run ended, and tell."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        folder = self.job.folder
        found = outcome(folder, self.job.config)
        if status < 0:
            self.note = fail(folder, "killed", f"killed by {signal.Signals(-status).name}")
        elif status == 0 and found.state not in ("done", "running") and os.environ.get("SLURM_PROCID", "0") == "0":
            self.note = fail(folder, "exited", f"the process ended with status 0 and left no result, see {LOG}")
            status = 1
        elif status not in (0, INTERRUPTED, KEYBOARD, BUSY) and _failure(folder) == self._before:
            self.note = fail(folder, "exited", f"the process exited with status {status} and gave no reason, see {LOG}")
        told = {
            INTERRUPTED: "interrupted, goes on from its checkpoint",
            BUSY: f"refused, {outcome(folder, self.job.config).reason or 'another process'} was at work on it",
        }
        words = told.get(status) or ending(self.job, self.note)
        log.log(logging.ERROR if status else logging.INFO, "%s: %s, %s", self.job.title, words, folder)
        return status


def in_child(job: Job, started: Callable[[Child], None] | None = None) -> int:
    """Run in a `Child`, and pass on to it what this process is asked for.

    Args:
        started: told of the child.

    Returns:
        the exit status, see `Child.wait`.

    Raises:
        Stopped: this process was asked to stop; the child was too, and has saved itself.
    """
    child = Child(job)
    if started:
        started(child)
    told = False
    while (status := child.wait(POLL)) is None:
        if (number := asked()) and not told:
            child.ask(number)
            told = True
    stop_if_asked()
    return status


def ending(job: Job, note: str = "") -> str:
    """How a run ended, in words: how good it was, or its state and the reason, which is `note` where the folder has none."""
    found = outcome(job.folder, job.config)
    if found.state == "done":
        return f"done, {errors(read(job.folder / RESULT).tests)}"
    return f"{found.state} {found.reason or note}".strip()


def _failure(folder: Path) -> tuple[int, int] | None:
    """Which `failure.json` lies in the folder; one of an earlier start stays until the run begins."""
    try:
        found = (folder / FAILURE).stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def environment(code: Path = PROJECT) -> dict[str, str]:
    """This process's environment, in which Python finds t3cen in `code` and not in the folder it happens to start in."""
    # Where packages are installed Python looks anyway, after its own library and not before.
    own = [] if IS_INSTALLED and code == PROJECT else [str(code)]
    paths = [*own, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}


def read_job(folder: Path) -> Job:
    """The job a `Child` was left by the process that started it."""
    left: Mapping[str, Any] = json.loads((folder / JOB).read_text())
    return Job(left["config"], folder, tuple(left["overrides"]))


def _main() -> int:
    heed()
    follow(sys.stdin.fileno())
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", datefmt="%F %T")
    return in_this_process(read_job(Path(sys.argv[1])))


if __name__ == "__main__":
    sys.exit(_main())
