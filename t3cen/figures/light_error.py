"""Error under other light, out of the records of a table: one panel a data set, one line a network (ours)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from t3cen.experiments.runs import run_of
from t3cen.experiments.schema import Column, Row, Section, get_table
from t3cen.figures.style import NETWORKS, canvas, line_style
from t3cen.project import command
from t3cen.results.cells import Cells, Statistic, statistic
from t3cen.results.records import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAINS = "gains_"
"""What the names of test sets begin with whose stops are the axis."""
APART = 0.12
"""Between the marks of two networks at one place, so that none hides another."""


def draw(
    outputs: str, scale: str, rows: Sequence[str], others: Mapping[str, str], table: str = "light"
) -> tuple[Figure, dict[str, Any]]:
    """Lines are means over seeds, shades reach from the least to the largest.

    Args:
        outputs: folder of the records.
        scale: theirs.
        rows: names of the table's rows, in the order of the legend; those without a record are left out.
        others: by name of a test set, its label right of the gains.
        table: one whose sections begin with the unshifted test set; those without test sets of gains are left out.

    Raises:
        FileNotFoundError: a data set has no record of any of the rows.
    """
    declared = get_table(table)
    cells = Cells(load(Path(outputs)), scale)
    sections = [section for section in declared.sections if len(_gains(section)) > 1]
    figure = canvas(3.9 * len(sections), 4.1)
    panels = figure.subplots(1, len(sections), sharey=True, squeeze=False)[0]
    numbers: dict[str, Any] = {}
    for panel, section in zip(panels, sections, strict=True):
        shown = {row.label: found for row in map(section.row, rows) if (found := _errors(cells, row, section, declared.seeds))}
        if not shown:
            raise FileNotFoundError(
                f"no results of {section.title} at scale {scale} in {outputs}; `{command('train')} sweep={table}`"
            )
        numbers[section.title] = {
            label: {test: list(found.values) for test, found in by_test.items()} for label, by_test in shown.items()
        }
        looks = {section.row(name).label: NETWORKS.get(name, line_style(place)) for place, name in enumerate(rows)}
        _plot(panel, section, shown, others, looks)
    panels[0].set_ylabel("error (%)")
    handles = {label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4)
    return figure, numbers


def _gains(section: Section) -> list[str]:
    """The test sets of gains, each once."""
    return list(dict.fromkeys(column.test for column in section.columns if column.test.startswith(GAINS)))


def _errors(cells: Cells, row: Row, section: Section, seeds: Sequence[int]) -> dict[str, Statistic]:
    """By test set, the errors of a row's seeds; none without records."""

    def error(column: Column) -> Statistic | None:
        group = cells.select(run_of(row, column).name, seeds).group
        return None if group is None else statistic(group, column.test, "error")

    return {column.test: found for column in section.columns if (found := error(column)) is not None}


def _plot(
    panel: Axes,
    section: Section,
    shown: Mapping[str, Mapping[str, Statistic]],
    others: Mapping[str, str],
    looks: Mapping[str, Mapping[str, Any]],
) -> None:
    gains = [section.columns[0].test, *_gains(section)]
    beside = range(len(gains) + 1, len(gains) + 1 + len(others))
    for at, (label, by_test) in enumerate(shown.items()):
        look = looks[label]
        found = [by_test[test].values for test in gains]
        panel.plot(range(len(gains)), [sum(values) / len(values) for values in found], label=label, **look)
        panel.fill_between(
            range(len(gains)), [*map(min, found)], [*map(max, found)], color=look["color"], alpha=0.15, linewidth=0
        )
        places = [place + APART * (at - (len(shown) - 1) / 2) for place in beside]
        panel.plot(places, [by_test[test].mean for test in others], **{**look, "linestyle": ""})
    stops = ["0", *(test.removeprefix(GAINS).removeprefix("0") for test in gains[1:])]
    panel.set_xticks([*range(len(gains)), *beside], [*stops, *others.values()])
    for tick in panel.get_xticklabels()[len(gains) :]:
        tick.set(rotation=90)
    panel.set_xlabel("gains up to (stops)", loc="left")
    panel.set_title(section.title)
