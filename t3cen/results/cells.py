"""From records to cells of tables: repetitions of one setting, never averaged across anything else."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from t3cen.experiments.composition import is_current
from t3cen.experiments.record import Record
from t3cen.results.records import Results

SOURCES = ("files", "bundled", "rendered", "synthetic", "fake")
"""Where pictures come from, the most trusted first."""


@dataclass(frozen=True)
class Group:
    """Records that may be averaged: one run at one scale, with equal configuration, data, code and test sets; a seed once."""

    records: tuple[Record, ...]

    @property
    def first(self) -> Record:
        return self.records[0]

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(record.seed for record in self.records)

    @cached_property
    def current(self) -> bool:
        """Whether the configuration is the one composed today."""
        return is_current(self.first)

    @property
    def mixed_code(self) -> bool:
        """Whether the records are of more than one version of the training code, which has to be asked for."""
        return len({record.code for record in self.records}) > 1


@dataclass(frozen=True)
class SetAside:
    """Records of a run that are not in its cell, and why."""

    run: str
    count: int
    reason: str


@dataclass(frozen=True)
class Selection:
    """The group that fills a run's cells, if any, and what was set aside."""

    group: Group | None
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True)
class Statistic:
    """Mean and sample standard deviation (n - 1) in percent; the latter is None where n is 1."""

    values: tuple[float, ...]

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def sd(self) -> float | None:
        return statistics.stdev(self.values) if self.n > 1 else None


def statistic(group: Group, test: str, metric: str) -> Statistic | None:
    """Error or accuracy of a group on one of its test sets, from the counts; None where the test set was not run."""
    if any(test not in record.tests for record in group.records):
        return None
    wrong = [100 * (1 - record.tests[test]["correct"] / record.tests[test]["total"]) for record in group.records]
    return Statistic(tuple(wrong if metric == "error" else (100 - value for value in wrong)))


class Cells:
    """The groups that fill tables, chosen once per run.

    Args:
        results: what `records.load` read.
        scale: paper, laptop or smoke; records of other scales are other experiments and never looked at.
        source: only records on pictures of this source; by default, run by run, the most trusted one there is.
        mix_code: average over versions of the training code too.
    """

    def __init__(self, results: Results, scale: str, source: str | None = None, *, mix_code: bool = False) -> None:
        self.scale, self.source, self.mix_code = scale, source, mix_code
        self._records: dict[str, list[Record]] = defaultdict(list)
        for record in results.records:
            if record.scale == scale and (source is None or record.source == source):
                self._records[record.name].append(record)
        self._chosen: dict[tuple[str, tuple[int, ...]], Selection] = {}

    def select(self, run: str, seeds: Sequence[int]) -> Selection:
        """The records of `run` with the table's `seeds` that may be averaged, and those that may not."""
        key = (run, tuple(seeds))
        if key not in self._chosen:
            self._chosen[key] = _select(run, self._records.get(run, ()), seeds, self.mix_code)
        return self._chosen[key]

    def __contains__(self, run: str) -> bool:
        return run in self._records


def _select(run: str, records: Iterable[Record], seeds: Sequence[int], mix_code: bool) -> Selection:
    aside: list[SetAside] = []

    def drop(what: Sequence[Record], reason: str) -> None:
        if what:
            aside.append(SetAside(run, len(what), reason))

    records = list(records)
    changed = [record for record in records if _variant(record)]
    drop(changed, "settings of their own on the command line")
    foreign = [record for record in records if not _variant(record) and record.seed not in seeds]
    drop(foreign, f"seeds the table does not name ({', '.join(str(record.seed) for record in foreign)})")
    groups: dict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in records:
        if not _variant(record) and record.seed in seeds:
            groups[comparable(record, mix_code)].append(record)
    candidates = []
    for members in groups.values():
        newest = {record.seed: record for record in sorted(members, key=finished)}
        drop([r for r in members if newest[r.seed] is not r], "seeds recorded twice; the newest record of each counts")
        candidates.append(Group(tuple(newest[seed] for seed in seeds if seed in newest)))
    if not candidates:
        return Selection(None, tuple(aside))
    best = max(candidates, key=_rank)
    for group in candidates:
        if group is not best:
            drop(group.records, _difference(group, best))
    return Selection(best, tuple(aside))


def comparable(record: Record, mix_code: bool = False) -> tuple[object, ...]:
    """What records of one run must have in common to be averaged: configuration, data, code (unless mixed) and test sets."""
    sizes = tuple(sorted((name, values["total"]) for name, values in record.tests.items()))
    return record.setting, record.provenance, "" if mix_code else record.code, sizes


def _variant(record: Record) -> bool:
    return any(not change.lstrip("+").startswith("data.source=") for change in record.changes)


def finished(record: Record) -> tuple[str, str]:
    """A key that sorts records by when they were finished."""
    return str(record.content.get("finished", "")), str(record.path)


def _rank(group: Group) -> tuple[object, ...]:
    source = group.first.source
    trust = len(SOURCES) - SOURCES.index(source) if source in SOURCES else 0
    return (
        group.current,
        trust,
        group.first.is_of_todays_code,
        len(group.records),
        max(finished(record) for record in group.records),
    )


def _difference(group: Group, best: Group) -> str:
    if group.first.source != best.first.source:
        return f"{group.first.source} data, where the cell has {best.first.source}"
    if group.first.setting != best.first.setting:
        return "another configuration" + ("" if group.current else ", not the one composed today")
    if group.first.provenance != best.first.provenance:
        return "other data of the same source"
    if group.first.code != best.first.code:
        return "other code"
    return "test sets of other sizes"
