"""Finished runs that a figure draws: found under the results folder, or trained there first."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import torch

import t3cen
from t3cen.experiments.composition import todays_setting
from t3cen.experiments.identity import setting_hash
from t3cen.experiments.record import Record
from t3cen.experiments.trusted import trusted
from t3cen.models.network import Network
from t3cen.project import command
from t3cen.results.cells import SOURCES, comparable, finished
from t3cen.results.records import load
from t3cen.training.job import environment


@dataclass(frozen=True)
class Runs:
    """Where runs lie, at which scale, and whether missing ones are trained.

    Attributes:
        scale: `paper`, `laptop` or `smoke`; runs of other scales are never looked at.
        outputs: the results folder.
        data_root: folder of the data sets, for training.
        train: train what is missing; otherwise its absence is an error.
        settings: further `KEY=VALUE` for every run, such as `data.source=rendered`; only runs with exactly these count.
    """

    scale: str
    outputs: str = "outputs"
    data_root: str = "data"
    train: bool = False
    settings: tuple[str, ...] = field(default=())

    def caption(self, seeds: Sequence[int], source: str) -> str:
        """What kind of runs a figure shows, in one line."""
        settings = f", {' '.join(self.settings)}" if self.settings else ""
        pictures = "published" if source == "files" else source
        return f"n = {len(seeds)}, {self.scale} scale, {pictures} pictures{settings}"

    def get(self, experiments: Sequence[str], seeds: Sequence[int]) -> dict[str, list[Record]]:
        """The records of each experiment, one per seed, all of today's configuration, of one data source for all.

        As in tables, the records of an experiment are of one training code, those of one data set of the same pictures.

        Args:
            experiments: names of `t3cen train experiment=`, each optionally with settings after blanks:
                `"shapes3d_sat_lcer_s3 step_jitter=true"`.

        Raises:
            FileNotFoundError: a run is missing and `train` is false; the message says how to train it.
            RuntimeError: a run that was trained did not finish.
        """
        found = self._find(experiments, seeds)
        if self._missing(found, seeds) and self.train:
            self._train(self._missing(found, seeds))
            found = self._find(experiments, seeds)
        if missing := self._missing(found, seeds):
            commands = "\n".join(
                "  " + " ".join([command("train"), *self._command(name, left)]) for name, left in missing.items()
            )
            raise FileNotFoundError(f"runs are missing; train=true trains them, or:\n{commands}")
        return found

    def _find(self, experiments: Sequence[str], seeds: Sequence[int]) -> dict[str, list[Record]]:
        folder = Path(self.outputs) / self.scale
        records = load(folder).records if folder.is_dir() else ()
        candidates = {name: [r for r in records if self._is(r, name, seeds)] for name in experiments}
        # Everything in one figure is of one source, the most trusted that has every run; pictures are never mixed.
        every: dict[str, list[Record]] = {name: [] for name in experiments}
        for source in SOURCES:
            chosen = _comparable({name: [r for r in found if r.source == source] for name, found in candidates.items()}, seeds)
            if all(len(found) == len(seeds) for found in chosen.values()):
                return chosen
            if sum(map(len, chosen.values())) > sum(map(len, every.values())):
                every = chosen
        return every

    def _is(self, record: Record, name: str, seeds: Sequence[int]) -> bool:
        experiment, *settings = name.split()
        if record.name != experiment or record.scale != self.scale or record.seed not in seeds:
            return False
        return record.setting == todays_setting(experiment, self.scale, tuple(sorted([*settings, *self.settings])))

    def _missing(self, found: dict[str, list[Record]], seeds: Sequence[int]) -> dict[str, list[int]]:
        left = {name: [seed for seed in seeds if seed not in {r.seed for r in records}] for name, records in found.items()}
        return {name: seeds for name, seeds in left.items() if seeds}

    def _command(self, name: str, seeds: Iterable[int]) -> list[str]:
        experiment, *settings = name.split()
        where = [f"outputs={self.outputs}", f"data_root={self.data_root}"]
        chosen = [f"experiment={experiment}", f"seed={','.join(map(str, seeds))}", f"scale={self.scale}"]
        return ["--multirun", *chosen, *settings, *self.settings, *where]

    def _train(self, missing: dict[str, list[int]]) -> None:
        for name, seeds in missing.items():
            train = [sys.executable, "-m", "t3cen.commands.train", *self._command(name, seeds)]
            # What the training says goes to the error stream; the figure's own numbers are the output.
            status = subprocess.run(train, env=environment(), stdout=sys.stderr.fileno(), check=False).returncode
            if status:
                raise RuntimeError(f"training {name} ended with status {status}: {' '.join(train[1:])}")


def _comparable(candidates: Mapping[str, Sequence[Record]], seeds: Sequence[int]) -> dict[str, list[Record]]:
    """The records of each experiment that may be averaged; where data settings are equal, of the same data for all."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name, records in candidates.items():
        alike[setting_hash(records[0].config["data"]) if records else name].append(name)
    chosen: dict[str, list[Record]] = {}
    for names in alike.values():
        data = sorted({record.provenance for name in names for record in candidates[name]}) or [""]
        ways = [[_group([r for r in candidates[name] if r.provenance == one], seeds) for name in names] for one in data]
        chosen |= zip(names, max(ways, key=lambda way: _rank(list(chain(*way)))), strict=True)
    return {name: chosen[name] for name in candidates}


def _group(records: Sequence[Record], seeds: Sequence[int]) -> list[Record]:
    """The newest record of each seed, in the order of the seeds, out of the group with the most seeds, then of today's code."""
    groups: dict[tuple[object, ...], dict[int, Record]] = defaultdict(dict)
    for record in sorted(records, key=finished):
        groups[comparable(record)][record.seed] = record
    chosen = [[newest[seed] for seed in seeds if seed in newest] for newest in groups.values()]
    return max(chosen, key=_rank, default=[])


def _rank(records: Sequence[Record]) -> tuple[object, ...]:
    return len(records), all(r.is_of_todays_code for r in records), max(map(finished, records), default=("", ""))


def trained_network(record: Record) -> tuple[Network, Any]:
    """The network of a finished run with the weights it ended with, in eval mode, and its data.

    Raises:
        FileNotFoundError: the checkpoint is gone.
        ValueError: the checkpoint is damaged or of another run, or the record's configuration names what conf/ does not.
    """
    from t3cen.training import final
    from t3cen.training.run import make_data

    checkpoint = record.path.parent / final.FINAL
    if not checkpoint.exists():
        raise FileNotFoundError(f"{record.path} has no {final.FINAL} beside it; the figure needs the weights")
    saved, _ = final.read(checkpoint)
    if saved.config_hash != record.content["config_hash"]:
        raise ValueError(f"{checkpoint} holds the weights of another run than {record.path}")
    return t3cen.load(checkpoint), make_data(trusted(record.config, "data", "augment"))


@torch.no_grad()
def error_rates(
    network: Network, images: torch.Tensor, labels: torch.Tensor, changes: Iterable[Any], batch: int = 256
) -> list[float]:
    """The share of wrong answers in [0, 1] on images changed by each of `changes`, functions of a batch `(B, 3, H, W)`."""
    device = next(network.parameters()).device
    rates = []
    for change in changes:
        wrong = 0
        for part, truth in zip(images.split(batch), labels.split(batch), strict=True):
            wrong += int((network(change(part).to(device)).argmax(1).cpu() != truth).sum())
        rates.append(wrong / len(labels))
    return rates


def held_out_images(data: Any, split: str, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """At most `count` images and labels of a test set, spread evenly over it: `(n, 3, H, W)` and `(n,)`."""
    items = data.splits.test[split]
    take = min(count, len(items))
    pairs = [items[at * len(items) // take] for at in range(take)]
    return torch.stack([image for image, _ in pairs]), torch.tensor([label for _, label in pairs])
