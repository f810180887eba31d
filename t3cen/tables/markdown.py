"""A printed table in Markdown: for each network a line of ours, one of the paper's and one of the difference."""

import textwrap

from t3cen.tables.printed import PrintedCell, PrintedRow, PrintedTable, own

WIDTH = 120
"""Of lines, in characters; rows of tables are as wide as their cells."""


def render(table: PrintedTable, *, ours_only: bool = False) -> str:
    """The table under a heading, with its provenance and notes as a list; or `ours_only`, a line a network, to be copied."""
    parts = [f"### {table.title}", _filled(table.caption)]
    for section in table.sections:
        if section.title:
            parts.append(f"**{section.title}**")
        head = [table.corner] if ours_only else [table.corner, ""]
        lines = [_line([*head, *section.columns]), _line([*("---" for _ in head), *("---:" for _ in section.columns)])]
        if ours_only:
            lines += [_line([row.label, *(_marked(cell.value, cell.mark) for cell in row.cells)]) for row in own(section)]
        else:
            lines += [line for row in section.rows for line in _row(row)]
        parts.append("\n".join(lines))
    if ours_only:
        return "\n\n".join([*parts, _filled(table.measure)]) + "\n"
    parts.append("\n".join(_filled(line, "- ") for line in (*map(escape, table.provenance), *table.notes)))
    return "\n\n".join(parts) + "\n"


def _filled(text: str, mark: str = "") -> str:
    """Prose in lines of the width that Markdown of this project has."""
    layout = {"initial_indent": mark, "subsequent_indent": " " * len(mark)}
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False, **layout)  # type: ignore[arg-type]


def escape(text: str) -> str:
    """Text from records, so that nothing in it is a link, a picture or HTML."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("<", "&lt;")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _row(row: PrintedRow) -> list[str]:
    lines = [_line([row.label, "ours", *(_ours(cell) for cell in row.cells)])]
    if row.in_paper:
        lines.append(_line(["", "paper", *(_marked(cell.paper_value, cell.paper_mark) for cell in row.cells)]))
    if any(cell.difference != "–" for cell in row.cells):
        lines.append(_line(["", "difference", *(cell.difference for cell in row.cells)]))
    return lines


def _ours(cell: PrintedCell) -> str:
    flags = f"<sup>{cell.flagged}</sup>" if cell.flags else ""
    return " ".join(part for part in (_marked(cell.value, cell.mark) + flags, cell.count) if part)


def _marked(text: str, mark: str | None) -> str:
    return {"best": f"**{text}**", "second": f"<u>{text}</u>"}.get(mark or "", text)
