"""A run as a job: what becomes of it is written in its folder, however it ends."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from t3cen.project import IS_INSTALLED, PROJECT
from t3cen.training.files import RunInProgress, write_json
from t3cen.training.outcome import FAILURE, JOB, LOG, fail, outcome
from t3cen.training.plan import Job
from t3cen.training.signals import INTERRUPTED, KEYBOARD, Stopped, follow_parent, heed, held

log = logging.getLogger("t3cen.training.job")  # also where this file is __main__

BUSY = 76
"""Exit status of a run that another process is at work on."""


def execute(config: DictConfig) -> None:
    """Hydra's task function: run here, or, in a sweep, in a process of its own."""
    hydra_config = HydraConfig.get()
    resolved: dict[str, Any] = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)  # type: ignore[assignment]
    job = Job(resolved, Path(hydra_config.runtime.output_dir), tuple(hydra_config.overrides.task))
    if hydra_config.mode == RunMode.MULTIRUN:
        in_child(job)
    elif status := in_this_process(job):
        sys.exit(status)


def in_this_process(job: Job) -> int:
    """Run, leave the reason of a failure in `failure.json`, and return the exit status."""
    try:
        from pytorch_lightning.utilities.rank_zero import rank_zero_only  # these take seconds to import

        from t3cen.training.errors import expected
        from t3cen.training.run import run
    except Stopped as stop:
        log.warning("stopped by %s before it began", stop)
        return int(stop.code or 0)
    except Exception as error:
        fail(job.folder, "raised", f"{type(error).__name__}: {error}", traceback.format_exc())
        raise
    others = bool(rank_zero_only.rank)  # type: ignore[attr-defined]  # of several processes of a run, not the first
    try:
        path = run(job)
        if not others:
            log.info("result: %s", path)
        return 0
    except RunInProgress as error:
        log.error("%s", error)
        return BUSY
    except Stopped as stop:
        if others:
            return 0  # else Lightning kills the first one, which is still at work
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


def in_child(job: Job, started: Callable[[subprocess.Popen[bytes]], None] | None = None) -> int:
    """Run in a process of its own, whose death nothing else feels; its output goes to the folder's `train.log`.

    Args:
        started: told of the process.

    Returns:
        the exit status; negative, the signal that killed it.

    Raises:
        Stopped: this process was asked to stop; the child was too, and has saved itself.
    """
    job.folder.mkdir(parents=True, exist_ok=True)
    write_json(job.folder / JOB, {"config": job.config, "overrides": job.overrides})
    before = _failure(job.folder)
    with (job.folder / LOG).open("a") as output, held():
        child = subprocess.Popen(
            [sys.executable, "-m", __name__, str(job.folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,  # Ctrl-C reaches it once, through this process
        )
    if started:
        started(child)
    status = _wait(child)
    if status < 0:
        fail(job.folder, "killed", f"killed by {Stopped(-status)}")
    elif status not in (0, INTERRUPTED, KEYBOARD, BUSY) and _failure(job.folder) == before:  # it left no reason of its own
        fail(job.folder, "exited", f"the process exited with status {status}")
    found = outcome(job.folder, job.config)
    told = {
        INTERRUPTED: "interrupted, goes on from its checkpoint",
        BUSY: f"refused, {found.reason or 'another process'} was at work on it",
    }
    words = told.get(status) or f"{found.state} {found.reason}".strip()
    log.log(logging.ERROR if status else logging.INFO, "%s: %s, %s", job.title, words, job.folder)
    return status


def _failure(folder: Path) -> tuple[int, int] | None:
    """Which `failure.json` lies in the folder; one of an earlier start stays until the run begins."""
    try:
        found = (folder / FAILURE).stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def _wait(child: subprocess.Popen[bytes]) -> int:
    stop: BaseException | None = None
    while True:
        try:
            status = child.wait()
        except (KeyboardInterrupt, Stopped) as asked:
            stop = asked
            child.send_signal(getattr(asked, "number", 2))
        else:
            if stop is not None:
                raise stop
            return status


def environment(code: Path = PROJECT) -> dict[str, str]:
    """This process's environment, in which Python finds t3cen in `code` and not in the folder it happens to start in."""
    # Where packages are installed Python looks anyway, after its own library and not before.
    own = [] if IS_INSTALLED and code == PROJECT else [str(code)]
    paths = [*own, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}


def read_job(folder: Path) -> Job:
    """The job `in_child` left for the process it starts."""
    left: Mapping[str, Any] = json.loads((folder / JOB).read_text())
    return Job(left["config"], folder, tuple(left["overrides"]))


def _main() -> int:
    follow_parent()
    heed()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", datefmt="%F %T")
    return in_this_process(read_job(Path(sys.argv[1])))


if __name__ == "__main__":
    sys.exit(_main())
