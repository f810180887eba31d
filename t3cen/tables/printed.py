"""A table ready to be printed: ours beside the paper's, whatever the format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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

    @property
    def value(self) -> str:
        """Ours without its mark: `12.34 (1.20)`, or a dash."""
        if self.text is not None:
            return self.text
        if self.ours is None:
            return "–"
        spread = f" ({self.ours.sd:{self.digits}})" if self.ours.sd is not None else ""
        return f"{self.ours.mean:{self.digits}}{spread}"

    @property
    def count(self) -> str:
        return f"n={self.ours.n}" if self.ours and self.seeds else ""

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


STALE, DIRTY, MIXED, TWIN, ADDED = "‡", "§", "¶", "=", "†"
_LEGEND = {
    STALE: f"{STALE} trained with a configuration that is not the one composed today",
    DIRTY: f"{DIRTY} trained with uncommitted changes in the code",
    MIXED: f"{MIXED} averaged over versions of the training code",
    TWIN: f"{TWIN} one run, listed under two names as in the paper",
    ADDED: f"{ADDED} not in the paper's table",
}


def assemble(table: Table, sections: Sequence[PrintedSection], provenance: Iterable[str]) -> PrintedTable:
    """The printed table, with a legend of the flags it uses before its own notes."""
    used = "".join(cell.flags for section in sections for row in section.rows for cell in row.cells)
    used += "".join(label for section in sections for label in (*section.columns, *(row.label for row in section.rows)))
    legend = [text for flag, text in _LEGEND.items() if flag in used]
    corner = "Network" if table.kind == "trained" and not table.transposed else ""
    return PrintedTable(
        table.name, table.title, table.source, table.caption, corner, tuple(sections), tuple(map(printable, provenance)),
        (*legend, *table.notes), table.unit,
    )  # fmt: skip
