"""A run as a job: what becomes of it is written in its folder, however it ends."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from t3cen.data.errors import DataError
from t3cen.training.callbacks import INTERRUPTED
from t3cen.training.files import RunInProgress, write_json

log = logging.getLogger(__name__)

JOB, FAILURE, OUTPUT = "job.json", "failure.json", "output.log"
EXPECTED_ERRORS = (ValueError, OSError, DataError, RunInProgress, FloatingPointError)
"""Errors a person can act on; they are reported in one line, the traceback goes to failure.json."""


def execute(config: DictConfig) -> None:
    """Hydra's task function: run here, or, in a sweep, in a process of its own."""
    hydra_config = HydraConfig.get()
    folder = Path(hydra_config.runtime.output_dir)
    resolved: dict[str, Any] = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)  # type: ignore[assignment]
    overrides = list(hydra_config.overrides.task)
    if hydra_config.mode == RunMode.MULTIRUN:
        in_child(resolved, folder, overrides)
    else:
        status = in_this_process(resolved, folder, overrides)
        if status:
            sys.exit(status)


def in_this_process(config: Mapping[str, Any], folder: Path, overrides: list[str]) -> int:
    """Run, leave the reason of a failure in `failure.json`, and return the exit status."""
    from t3cen.training.run import run

    # Lightning's own lines (tips, what hardware it found) say nothing about this run; its warnings do.
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    try:
        log.info("result: %s", run(config, folder, overrides))
        return 0
    except RunInProgress as error:
        log.error("%s", error)
        return 1
    except EXPECTED_ERRORS as error:
        _failed(folder, "raised", f"{type(error).__name__}: {error}", traceback.format_exc())
        log.error("%s (traceback in %s)", error, folder / FAILURE)
        return 1
    except KeyboardInterrupt:
        log.warning("interrupted; the same command goes on from the last checkpoint")
        return 130
    except SystemExit as ending:
        if ending.code != INTERRUPTED:
            _failed(folder, "exited", f"the run exited with status {ending.code}", traceback.format_exc())
        raise
    except Exception as error:
        _failed(folder, "raised", f"{type(error).__name__}: {error}", traceback.format_exc())
        raise


def in_child(config: Mapping[str, Any], folder: Path, overrides: list[str]) -> int:
    """Run in a process of its own, whose death nothing else feels; its output goes to `output.log`.

    Returns:
        the exit status; negative, the signal that killed it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / JOB, {"config": config, "overrides": overrides})
    with (folder / OUTPUT).open("a") as output:
        child = subprocess.run(
            [sys.executable, "-m", "t3cen.training.job", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    status = child.returncode
    if status < 0:
        _failed(folder, "killed", f"killed by signal {-status}", "")
    elif status not in (0, INTERRUPTED) and not (folder / FAILURE).exists():
        _failed(folder, "exited", f"the process exited with status {status}", "")
    log.log(logging.ERROR if status else logging.INFO, "%s seed %s: %s", config["name"], config["seed"], _outcome(folder, status))
    return status


def _outcome(folder: Path, status: int) -> str:
    if status == 0:
        return f"done, {folder}"
    if status == INTERRUPTED:
        return f"interrupted, goes on from its checkpoint, {folder}"
    reason = json.loads((folder / FAILURE).read_text())["reason"] if (folder / FAILURE).exists() else f"status {status}"
    return f"failed: {reason}, see {folder / OUTPUT}"


def _failed(folder: Path, kind: str, reason: str, trace: str) -> None:
    time = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(folder / FAILURE, {"kind": kind, "reason": reason, "traceback": trace, "time": time})


def _main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    folder = Path(sys.argv[1])
    job = json.loads((folder / JOB).read_text())
    return in_this_process(job["config"], folder, job["overrides"])


if __name__ == "__main__":
    sys.exit(_main())
