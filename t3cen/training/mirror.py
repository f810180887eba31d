"""Weights & Biases as a mirror of a run: whatever becomes of it, the run goes on and its result is the same."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pytorch_lightning.loggers.logger import Logger
from pytorch_lightning.utilities.rank_zero import rank_zero_only

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
                for stage, sets in record["metrics"].items():
                    self._run.summary.update({f"{stage}/{name}": values for name, values in sets.items()})
            self._run.finish(exit_code=0 if record is not None else 1)

        self._guard("end", end)
        self._run = None

    @rank_zero_only
    def _begin(self, folder: Path, config: Mapping[str, Any], mode: Mode) -> None:
        def begin() -> None:
            # its notices would fill the terminal and the job's log
            os.environ.setdefault("WANDB_SILENT", "true")
            import wandb  # here: it may be missing or broken

            run = wandb.init(
                mode=mode,
                dir=folder,
                project=config["logger"]["wandb_project"],
                name=f"{config['name']}-seed{config['seed']}",
                group=config["name"],
                tags=[config["scale"]],
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
