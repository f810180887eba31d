"""Attacks on runs of a real SLURM, of one node of this machine: a time limit that is waited out, and a preemption.

The cluster is that of tests/slurm: Debian's packages, as root. Runs have two loader processes and a loss that takes its time.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
sys.path.append(str(PROJECT / "tests" / "slurm"))

from cluster import Cluster  # noqa: E402

SLOW = ("loss._target_=slow_loss.loss", "checkpoint_every.steps=1000")
LAUNCHER = ("launcher=slurm", *(f"hydra.launcher.{key}" for key in (
    "cpus_per_task=1", "mem_gb=2", "gpus_per_node=1", "poll_seconds=1", "signal_delay_s=20",
)))  # fmt: skip
PATIENCE = 1200.0
"""Seconds after which a run that a cluster was given counts as lost."""


def limits(attack: Any, cases: int) -> Iterator[str]:
    """A SLURM time limit of two minutes, waited out: saved, queued again, gone on from"""
    return _on_slurm(attack, cases, "limit", ("hydra.launcher.timeout_min=2",), lambda *_: None)


def preemptions(attack: Any, cases: int) -> Iterator[str]:
    """A preemption by a SLURM job of higher priority: saved, queued again, gone on from"""

    def preempt(cluster: Cluster, folder: Path) -> None:
        end = time.monotonic() + PATIENCE
        while not list(folder.rglob("metrics.csv")) and time.monotonic() < end:
            time.sleep(0.2)
        time.sleep(attack.chance.uniform(0, 20))
        cluster("sbatch", "--partition=urgent", "--mem=8000", "--wrap=sleep 1", "--output=/dev/null")  # all the memory there is

    return _on_slurm(attack, cases, "preemption", ("hydra.launcher.timeout_min=30",), preempt)


def _on_slurm(
    attack: Any, cases: int, what: str, settings: tuple[str, ...], act: Callable[[Cluster, Path], None]
) -> Iterator[str]:
    path = f"{attack.code}{os.pathsep}{Path(__file__).parent}"
    with tempfile.TemporaryDirectory(prefix="slurm-") as home:
        Path(home).chmod(0o755)  # munge wants its socket where everyone could reach it
        with Cluster(Path(home)) as cluster:
            variables = {key: cluster.environment[key] for key in ("SLURM_CONF", "PATH")}
            alone, _ = attack.alone("alone-slow", *SLOW, variables={"PYTHONPATH": path})
            for case in range(cases):
                name = f"{what}{case}"
                driver = attack.start(name, *SLOW, *LAUNCHER, *settings, variables={**variables, "PYTHONPATH": path})
                act(cluster, attack.place / name)
                end = time.monotonic() + PATIENCE
                while driver.poll() is None and time.monotonic() < end and not _began_anew(attack.folder(name)):
                    time.sleep(1)
                if driver.poll() is None:
                    os.killpg(driver.pid, signal.SIGKILL)
                    cluster("scancel", "--user", "root")
                yield _told(attack, name, driver.wait(), alone)


def _began_anew(folder: Path | None) -> bool:
    """Whether a run that was trained before trains from its beginning."""
    if folder is None or len(list(folder.glob("csv/sitting_*"))) < 2:
        return False
    return "going on from" not in (folder / "train.log").read_text()


def _told(attack: Any, name: str, status: int, alone: Path) -> str:
    """What was lost or wrong, or nothing."""
    folder = attack.folder(name)
    if _began_anew(folder):
        return f"{name}: what was trained before was lost"
    if status:
        said = (attack.place / f"{name}.log").read_text().strip().splitlines() or [""]
        return f"{name}: the driver ended with status {status}; {said[-1]}"
    if folder is None or "going on from" not in (folder / "train.log").read_text():
        return f"{name}: it was never stopped"
    return "" if attack.same(alone, folder) else f"{name}: the run that went on differs from the one left alone"
