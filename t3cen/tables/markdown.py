"""A printed table in Markdown: for each network a line of ours, one of the paper's and one of the difference."""

import textwrap
from collections.abc import Sequence

from t3cen.tables.printed import PrintedCell, PrintedRow, PrintedSection, PrintedTable, own

WIDTH = 120
"""Of lines, in characters."""


def render(table: PrintedTable, *, ours_only: bool = False) -> str:
    """The table under a heading, with its provenance and notes as a list; or `ours_only`, a line a network, to be copied."""
    parts = [f"### {table.title}", filled(table.caption)]
    for section in table.sections:
        if section.title:
            parts.append(f"**{section.title}**")
        if ours_only:
            rows = [[row.label, *(_marked(cell.value, cell.mark) for cell in row.cells)] for row in own(section)]
            parts.append(_table([table.corner], section.columns, rows))
        else:
            parts += _tables(table.corner, section)
    if ours_only:
        return "\n\n".join([*parts, filled(table.measure)]) + "\n"
    parts.append("\n".join(filled(line, "- ") for line in (*map(escape, table.provenance), *table.notes)))
    return "\n\n".join(parts) + "\n"


def _tables(corner: str, section: PrintedSection) -> list[str]:
    """The section in the fewest tables whose lines fit, each with about as many of its columns."""
    compared = any(row.in_paper for row in section.rows)
    names = [corner, ""] if compared else [corner]
    columns = len(section.columns)
    for count in range(1, columns + 1):
        step = -(-columns // count)
        parts = [slice(start, start + step) for start in range(0, columns, step)]
        made = [
            _table(names, section.columns[part], [line for row in section.rows for line in _row(row, part, compared)])
            for part in parts
        ]
        if all(len(line) <= WIDTH for table in made for line in table.splitlines()):
            break
    return made


def _table(names: list[str], columns: Sequence[str], rows: list[list[str]]) -> str:
    rule = [*("---" for _ in names), *("---:" for _ in columns)]
    return "\n".join(map(_line, [[*names, *columns], rule, *rows]))


def filled(text: str, mark: str = "") -> str:
    """Prose in lines of the width that Markdown of this project has."""
    layout = {"initial_indent": mark, "subsequent_indent": " " * len(mark)}
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False, **layout)  # type: ignore[arg-type]


def escape(text: str) -> str:
    """Text from records, so that nothing in it is a link, a picture or HTML."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("<", "&lt;")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _row(row: PrintedRow, part: slice, compared: bool) -> list[list[str]]:
    """The lines of a network: ours, and where any network of the section is in the paper, what is whose."""
    cells = row.cells[part]
    lines = [[row.label, *(["ours"] if compared else []), *map(_ours, cells)]]
    if row.in_paper:
        lines.append(["", "paper", *(_marked(cell.paper_value, cell.paper_mark) for cell in cells)])
    if any(cell.difference != "–" for cell in row.cells):
        lines.append(["", "difference", *(cell.difference for cell in cells)])
    return lines


def _ours(cell: PrintedCell) -> str:
    flags = f"<sup>{cell.flagged}</sup>" if cell.flags else ""
    return " ".join(part for part in (_marked(cell.value, cell.mark) + flags, cell.count) if part)


def _marked(text: str, mark: str | None) -> str:
    return {"best": f"**{text}**", "second": f"<u>{text}</u>"}.get(mark or "", text)
