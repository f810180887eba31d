"""Weights & Biases as a mirror of a run: whatever becomes of it, the run goes on, with the same result."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from pytorch_lightning.loggers.logger import Logger
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from t3cen.experiments import runs_of, trained_tables
from t3cen.experiments.identity import setting_hash

log = logging.getLogger(__name__)

Mode = Literal["offline", "online"]

DEADLINE = 60.0
"""Seconds that Weights & Biases may take to begin or to end; then the run goes on without it."""


class Mirror(Logger):
    """Sends metrics to a wandb run in `folder`, offline or online, until the first thing that goes wrong.

    Args:
        folder: of the run; wandb writes `folder/wandb`.
        config: of the run.
        mode: `offline` or `online`.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], mode: Mode) -> None:
        super().__init__()
        self._run: Any = None
        self._begin(folder, config, mode)

    @property
    def name(self) -> str:
        return "wandb"

    @property
    def version(self) -> str | None:
        return self._run.id if self._run is not None else None

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        if self._run is not None:
            self._guard("log", lambda: self._run.log({**metrics, "trainer/global_step": step}))

    @rank_zero_only
    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Nothing: the whole configuration is there from the beginning."""

    @rank_zero_only
    def finish(self, record: Mapping[str, Any] | None = None) -> None:
        """End the wandb run, with the result's metrics and provenance if there is a result."""
        if self._run is None:
            return

        def end() -> None:
            if record is not None:
                origin = ("commit", "dirty", "versions", "device", "data_provenance", "parameters", "macs", "config_hash")
                self._run.config.update({"provenance": {key: record[key] for key in origin}}, allow_val_change=True)
                self._run.summary.update({key: record[key] for key in ("wall_seconds", "step_seconds", "peak_memory_bytes")})
            self._run.finish(exit_code=0 if record is not None else 1)

        self._guard("end", end)
        self._run = None

    @rank_zero_only
    def _begin(self, folder: Path, config: Mapping[str, Any], mode: Mode) -> None:
        def begin() -> None:
            # its notices would fill the terminal and the job's log
            os.environ.setdefault("WANDB_SILENT", "true")
            import wandb  # here: it may be missing or broken

            setting = _setting(folder, config)
            run = wandb.init(
                mode=mode,
                dir=folder,
                project=config["logger"]["wandb_project"],
                entity=config["logger"].get("wandb_entity"),
                id=_run_id(folder),
                resume="allow",
                name=f"{setting} seed {config['seed']}",
                group=f"{config['scale']} {setting}",
                tags=_tags(config),
                config=dict(config),
                settings=wandb.Settings(silent=True, console="off", init_timeout=DEADLINE / 2),
            )
            run.define_metric("*", step_metric="trainer/global_step")
            self._run = run

        self._guard("begin", begin)

    def _guard(self, what: str, action: Callable[[], None]) -> None:
        """Do it in a thread of its own, and give wandb up when it fails or takes too long."""
        failure: list[BaseException] = []

        def attempt() -> None:
            try:
                action()
            except Exception as error:  # of whatever kind: a mirror must not cost the run
                failure.append(error)

        if what == "log":
            attempt()
        else:
            thread = threading.Thread(target=attempt, name=f"wandb-{what}", daemon=True)
            thread.start()
            thread.join(DEADLINE)
            if thread.is_alive():
                failure.append(TimeoutError(f"no answer in {DEADLINE:.0f} s"))
        if failure:
            self._run = None
            told = f"{type(failure[0]).__name__}: {failure[0]}".splitlines()[0]
            log.warning("Weights & Biases could not %s (%s); the run goes on without it", what, told)


def _setting(folder: Path, config: Mapping[str, Any]) -> str:
    """What the seeds of one setting share and no other has: the experiment, and what the command line changed of it."""
    inside = Path(folder).absolute().parts
    base = (*Path(config["outputs"]).absolute().parts, config["scale"])
    if inside[: len(base)] != base:  # a folder of another name, which says nothing
        return f"{config['name']} {setting_hash(config)[:8]}"
    return " ".join(inside[len(base) : -1])


def _run_id(folder: Path) -> str:
    """One for all the times a run is started; it stays in the folder, so that a resumed run is the same one in wandb."""
    path = folder / "wandb" / "run_id"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_text(uuid4().hex[:16])
    return path.read_text()


def _tags(config: Mapping[str, Any]) -> list[str]:
    """The scale, where the pictures come from, and every table the experiment fills a cell of."""
    filled = [table.name for table in trained_tables() if config["name"] in {run.name for run in runs_of(table)}]
    return [config["scale"], *filter(None, [config["data"].get("source")]), *filled]
