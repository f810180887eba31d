"""A table ready to be printed: ours beside the paper's, whatever the format."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from t3cen.experiments.schema import Table
from t3cen.results.agreement import Comparison, Published
from t3cen.results.cells import Statistic
from t3cen.results.records import printable


@dataclass(frozen=True)
class PrintedCell:
    """One cell. `text` stands in for a number where ours is none (a setting); `paper` is as the paper prints it."""

    ours: Statistic | None = None
    text: str | None = None
    mark: str | None = None
    paper: str | None = None
    published: Published | None = None
    comparison: Comparison | None = None
    flags: str = ""
    run: str = ""
    seeds: tuple[int, ...] = ()
    source: str = ""
    digits: str = ".2f"
    """A format, or `M` for millions as the paper prints them."""
    is_usual: bool = False
    """Whether n is that of the table, which tells it once."""

    @property
    def value(self) -> str:
        """Ours without its mark: `12.34 (1.20)`, or a dash."""
        if self.text is not None:
            return self.text
        if self.ours is None:
            return "–"
        if self.digits == "M":
            return f"{self.ours.mean / 1e6:.{1 if self.ours.mean >= 1e6 else 2}f}M"
        spread = f" ({self.ours.sd:{self.digits}})" if self.ours.sd is not None else ""
        return f"{self.ours.mean:{self.digits}}{spread}"

    @property
    def count(self) -> str:
        return f"n={self.ours.n}" if self.ours and self.seeds and not self.is_usual else ""

    @property
    def flagged(self) -> str:
        """The flags, apart from each other."""
        return ",".join(self.flags)

    @property
    def paper_value(self) -> str:
        return self.paper.strip("*_ ") if self.paper else "–"

    @property
    def paper_mark(self) -> str | None:
        return self.published.mark if self.published else None

    @property
    def short_difference(self) -> str:
        """Ours minus the paper's, and the verdict where there is one."""
        if self.text is not None and self.paper is not None:
            return "same" if self.text == self.paper_value else "differs"
        if self.comparison is None:
            return "–"
        return f"{self.comparison.difference:+{self.digits}} {self.comparison.verdict}".strip()

    @property
    def difference(self) -> str:
        """The same, with the 95% interval where there is one."""
        found = self.comparison
        if found is None or found.low is None:
            return self.short_difference
        interval = f"[{found.low:+{self.digits}}, {found.high:+{self.digits}}]"
        return f"{found.difference:+{self.digits}} {interval} {found.verdict}".strip()


@dataclass(frozen=True)
class PrintedRow:
    """One network (or, in a transposed table, one data set)."""

    label: str
    cells: tuple[PrintedCell, ...]
    in_paper: bool = True
    own_label: str = ""
    """Of what was trained here, where `label` says something else or more."""


@dataclass(frozen=True)
class PrintedSection:
    title: str
    columns: tuple[str, ...]
    rows: tuple[PrintedRow, ...]


@dataclass(frozen=True)
class PrintedTable:
    """Everything under one caption. `provenance` are the lines that say what the numbers are of, `notes` what is special."""

    name: str
    title: str
    source: str
    caption: str
    corner: str
    sections: tuple[PrintedSection, ...]
    provenance: tuple[str, ...]
    notes: tuple[str, ...]
    unit: str = ""
    measure: str = ""
    """What the numbers are, in a sentence."""


STALE, DIRTY, MIXED, TWIN, ADDED = "‡", "§", "¶", "=", "†"
_LEGEND = {
    STALE: f"{STALE} trained with a configuration that is not the one composed today",
    DIRTY: f"{DIRTY} trained with uncommitted changes in the code",
    MIXED: f"{MIXED} averaged over versions of the training code",
    TWIN: f"{TWIN} one run, listed under two names as in the paper",
    ADDED: f"{ADDED} not in the paper's table",
}


def assemble(table: Table, sections: Sequence[PrintedSection], provenance: Iterable[str], scale: str = "paper") -> PrintedTable:
    """The printed table, with a legend of the marks it uses before its own notes; the n of whole cells is told once."""
    every = [cell for section in sections for row in section.rows for cell in row.cells]
    counts = {_n(cell) for cell in every if cell.ours and cell.seeds}
    usual = max(counts, default=0)
    sections = [_each(section, lambda cell: replace(cell, is_usual=_n(cell) == usual)) for section in sections]
    used = "".join(cell.flags for section in sections for row in section.rows for cell in row.cells)
    used += "".join(label for section in sections for label in (*section.columns, *(row.label for row in section.rows)))
    legend = [f"n = {usual}{' where a cell names no other' if len(counts) > 1 else ' in every cell'}"] if usual else []
    legend += ["bold: the best of its column; underlined: the second best"] if any(cell.mark for cell in every) else []
    legend += [text for flag, text in _LEGEND.items() if flag in used]
    corner = "Network" if table.kind == "trained" and not table.transposed else ""
    return PrintedTable(
        table.name, table.title, table.source, table.caption, corner, tuple(sections), tuple(map(printable, provenance)),
        (*legend, *table.notes), table.unit, _measure(table, usual, len(counts) > 1, scale),
    )  # fmt: skip


def _n(cell: PrintedCell) -> int:
    return cell.ours.n if cell.ours else 0


def _measure(table: Table, usual: int, differs: bool, scale: str) -> str:
    if table.kind != "trained":
        return f"Unit: {table.unit}." if table.unit else ""
    several = f" over {'at most ' if differs else ''}{usual} seeds" if usual > 1 else " of one seed"
    reduced = "" if scale == "paper" else f" Trained at scale {scale}, shorter and smaller than in the paper."
    told = f"{table.metric.capitalize()} in %: mean (sample standard deviation){several}.{reduced}"
    return told if usual else "No results yet."


def own(section: PrintedSection) -> list[PrintedRow]:
    """The rows of a section that hold something of ours, named for it."""
    filled = [row for row in section.rows if any(cell.ours or cell.text is not None for cell in row.cells)]
    return [replace(row, label=row.own_label or row.label) for row in filled]


def filled_rows(table: PrintedTable) -> PrintedTable:
    """The table without the rows, and the sections, that hold nothing of ours; a note names them, once each if in no section."""
    sections, absent = [], []
    for section in table.sections:
        rows = [row for row in section.rows if any(cell.ours or cell.text is not None for cell in row.cells)]
        absent += [(section.title, row.label) for row in section.rows if row not in rows]
        sections += [replace(section, rows=tuple(rows))] if rows else []
    present = {row.label for section in sections for row in section.rows}
    names = dict.fromkeys(" ".join(filter(None, (title, label))) if label in present else label for title, label in absent)
    told = (f"Not here yet, and left out: {', '.join(names)}.",) if names else ()
    return replace(table, sections=tuple(sections), notes=(*told, *table.notes))


def _each(section: PrintedSection, change: Callable[[PrintedCell], PrintedCell]) -> PrintedSection:
    rows = (replace(row, cells=tuple(map(change, row.cells))) for row in section.rows)
    return replace(section, rows=tuple(rows))
