"""The lines under a table that say what its numbers are of."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from t3cen.experiments.record import Record
from t3cen.experiments.schema import Table
from t3cen.results.agreement import MARGIN
from t3cen.results.cells import Cells, Group, Selection
from t3cen.results.records import Refused
from t3cen.tables.reductions import reductions


def lines(table: Table, cells: Cells, selections: Mapping[str, Selection], refused: Sequence[Refused]) -> Iterator[str]:
    """Metric, scale, data, devices, code, and every record that is not in the table, with its reason."""
    groups = [selection.group for selection in selections.values() if selection.group]
    metric = f"{table.metric.capitalize()} in %: mean (sample standard deviation) over n of {len(table.seeds)} seeds."
    yield metric if table.source == "own" else f"{metric} The paper's n is taken as {table.published_n}."
    if cells.scale == "paper":
        yield (
            f"Scale: paper. Differences have their 95% interval; agrees where that lies within {MARGIN:g} point, "
            "differs where it leaves out 0, else not decided."
        )
    else:
        yield f"Scale: {cells.scale}. Lengths, sizes or data are reduced: differences have their 95% interval and no word."
    changed = reductions(groups) if cells.scale != "paper" else []
    if changed:
        yield f"Reduced: {', '.join(changed)}."
    if groups:
        records = [record for group in groups for record in group.records]
        yield f"Data: {_counted(_data(record) for record in records)}."
        yield f"Device: {_counted(str(record.content.get('device', 'unknown')) for record in records)}."
        yield f"Code: {_counted(_commit(record) for record in records)}{_code_note(groups)}."
        if older := sum(not record.has_digest for record in records):
            yield f"No digest: {older} of {len(records)} records, of schema 1; that they are as they were written cannot be seen."
    else:
        yield "No results yet."
    aside = [f"{item.count} of {item.run} ({item.reason})" for selection in selections.values() for item in selection.set_aside]
    if aside:
        yield f"Set aside: {'; '.join(aside)}."
    bad = [item for item in refused if cells.scale in item.path.parts and set(selections) & set(item.path.parts)]
    if bad:
        reasons = [f"{'/'.join(item.path.parts[-3:-1])}: {item.reason}" for item in bad]
        yield f"Refused: {'; '.join(reasons)}."


def _data(record: Record) -> str:
    return f"{record.content['data_provenance'].get('name', record.name)} from {record.source}"


def _commit(record: Record) -> str:
    """The commits of its sittings, which are of one code and may be of several commits."""
    return " and ".join(commit[:10] for commit in record.commits) + (" with uncommitted changes" if record.dirty else "")


def _code_note(groups: Sequence[Group]) -> str:
    other = sum(not all(record.is_of_todays_code for record in group.records) for group in groups)
    return f"; {other} of {len(groups)} networks trained by other code than today's" if other else ""


def _counted(items: Iterable[str]) -> str:
    return ", ".join(f"{name} ({count} run{'s' if count > 1 else ''})" for name, count in Counter(items).items())
