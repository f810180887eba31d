"""Running many runs: what is done is skipped, what fails stops nothing, and the end says what is not done and why."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from t3cen.training.closing import near
from t3cen.training.outcome import Outcome, outcome, tidy
from t3cen.training.plan import Job, compose
from t3cen.training.signals import Stopped

log = logging.getLogger(__name__)

SHOWN = 4
"""Names of runs that one line of the report lists."""
COLORS = {"done": "green", "skipped": "green", "running": "cyan", "failed": "red"}


class Sweep(BasicSweeper):
    """Hydra's basic sweeper over runs whose folders say what they are.

    Runs named twice are started once; those whose folder holds their result are not started. `max_batch_size` runs at a time
    are handed to the launcher, or all. The exit status is 0 only if every run is done.
    """

    def sweep(self, arguments: list[str]) -> None:
        assert self.config is not None
        assert self.hydra_context is not None
        parser = OverridesParser.create(config_loader=self.hydra_context.config_loader)
        parameters = parser.parse_overrides([*self._parse_config(), *arguments])
        jobs: dict[Any, Job] = {}
        lines: dict[Any, list[str]] = {}
        every = self.split_arguments(parameters, None)[0]
        log.info("composing %s", _runs(len(every)))
        for line in every:
            job = compose(self.hydra_context, self.config, line)
            jobs.setdefault(job.folder, job)
            # the folder, spelled out, so that no launcher has to find it again
            lines.setdefault(job.folder, [*line, f"hydra.sweep.subdir={_quoted(str(job.folder))}"])
        before = {folder: outcome(folder, job.config) for folder, job in jobs.items()}
        pending = [folder for folder in jobs if before[folder].state not in ("done", "stale", "running")]
        log.info("%s: %s", _runs(len(jobs)), _counted(before.values()))
        for folder, found in before.items():
            if found.state == "done":
                tidy(folder)
        stop, notes = self._launch(jobs, lines, pending)
        after = {folder: outcome(folder, job.config) for folder, job in jobs.items()}
        for folder, found in before.items():
            if found.state == "done":
                after[folder] = Outcome("skipped", "was done before")
        report([(jobs[folder], found, notes.get(folder, "")) for folder, found in after.items()])
        if stop is not None:
            log.warning("stopped by %s; the same command goes on", stop)
            sys.exit(stop.code)
        if any(found.state not in ("done", "skipped") for found in after.values()):
            sys.exit(1)

    def _launch(
        self, jobs: dict[Any, Job], lines: dict[Any, list[str]], pending: list[Any]
    ) -> tuple[Stopped | None, dict[Any, str]]:
        """Hand the pending runs to the launcher.

        Returns:
            the request to stop that ended it, if one did, and by folder, what the launcher said of runs it never started.
        """
        assert self.launcher is not None
        size = self.max_batch_size or max(1, len(pending))
        notes: dict[Any, str] = {}
        started = 0
        for chunk in (pending[i : i + size] for i in range(0, len(pending), size)):
            while chunk:
                seen = {folder: _trace(jobs[folder]) for folder in chunk}
                try:
                    self.launcher.launch([lines[folder] for folder in chunk], initial_job_idx=started)
                    untouched = []
                except Stopped as stop:
                    return stop, notes | getattr(self.launcher, "notes", {})
                except Exception as error:  # whatever a launcher dies of, the other runs are to go on
                    log.error("the launcher failed: %s: %s", type(error).__name__, error)
                    untouched = [folder for folder in chunk if _trace(jobs[folder]) == seen[folder]]
                    notes |= {folder: f"never started: {type(error).__name__}: {error}" for folder in untouched}
                started += len(chunk)
                # a launcher that lost a worker has left runs behind; one that started nothing will not do better again
                chunk = untouched if len(untouched) < len(chunk) else []
        return None, notes | getattr(self.launcher, "notes", {})


def _trace(job: Job) -> tuple[str, float]:
    """What changes in a run's folder as soon as the run is started."""
    log_file = job.folder / "train.log"
    return outcome(job.folder, job.config).state, log_file.stat().st_mtime if log_file.exists() else 0.0


def _runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _counted(outcomes: Any) -> str:
    return ", ".join(f"{count} {state}" for state, count in Counter(found.state for found in outcomes).items())


def report(rows: Sequence[tuple[Job, Outcome, str]]) -> None:
    """Print what is not done and why, a line for each reason, and how many are."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 160)
    alike: dict[tuple[str, str], list[Job]] = {}
    for job, found, note in rows:
        if found.state not in ("done", "skipped"):
            alike.setdefault((found.state, found.reason or note), []).append(job)
    if alike:
        grid = Table("runs", "state", title="not done", title_justify="left", show_lines=True)
        grid.add_column("why", overflow="fold")
        grid.add_column("folder", overflow="fold")
        for (state, why), jobs in alike.items():
            folder = near(jobs[0].folder) + (f" and {len(jobs) - 1} more" if len(jobs) > 1 else "")
            grid.add_row(_named(jobs), f"[{COLORS.get(state, 'yellow')}]{state}[/]", escape(why), escape(folder))
        console.print(grid)
    console.print(f"{_runs(len(rows))}: {_counted(found for _, found, _ in rows)}", highlight=False)


def _named(jobs: Sequence[Job]) -> str:
    """The runs by name, each with its seeds, at most `SHOWN` of them."""
    seeds: dict[str, list[str]] = {}
    for job in jobs:
        seeds.setdefault(job.config["name"], []).append(str(job.config["seed"]))
    lines = [escape(f"{name} seed {', '.join(found)}") for name, found in seeds.items()]
    return "\n".join([*lines[:SHOWN], *([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])])
