"""A printed table in LaTeX (booktabs), marked with bold and underline as the paper's."""

from t3cen.tables.printed import PrintedCell, PrintedRow, PrintedTable, own

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "³": "$^{3}$", "°": r"$^{\circ}$", "†": r"$\dagger$",
    "‡": r"$\ddagger$", "§": r"\S{}", "¶": r"\P{}", "–": "--", "=": "$=$", "<": "$<$", ">": "$>$", "²": "$^{2}$",
}  # fmt: skip


def render(table: PrintedTable, *, ours_only: bool = False) -> str:
    """A `table` environment; \\usepackage{booktabs} is all it needs. `ours_only` has a line a network, and no more below."""
    head = 1 if ours_only else 2
    width = head + len(table.sections[0].columns)
    below = table.measure if ours_only else ""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{\textbf{{{escape(table.title)}.}} {escape(' '.join(filter(None, (table.caption, below))))}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{'l' * head}{'r' * (width - head)}}}",
        r"\toprule",
    ]
    for index, section in enumerate(table.sections):
        if index:
            lines.append(r"\midrule")
        if section.title:
            lines += [rf"\multicolumn{{{width}}}{{c}}{{\textbf{{{escape(section.title)}}}}}\\", r"\midrule"]
        lines += [_line([escape(table.corner), *[""] * (head - 1), *map(escape, section.columns)]), r"\midrule"]
        if ours_only:
            lines += [_line([escape(row.label), *(_marked(cell.value, cell.mark) for cell in row.cells)]) for row in own(section)]
        else:
            lines += [line for row in section.rows for line in _row(row)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if ours_only:
        return "\n".join([*lines, r"\end{table}"]) + "\n"
    lines += [r"\\[2pt]", r"\begin{minipage}{\linewidth}\footnotesize"]
    lines += [escape(line) + r"\\" for line in (*table.provenance, *table.notes)]
    return "\n".join([*lines, r"\end{minipage}", r"\end{table}"]) + "\n"


def escape(text: str) -> str:
    """Text as LaTeX prints it; the network's name as the paper writes it."""
    return "".join(_ESCAPES.get(character, character) for character in text).replace("T$^{3}$", r"$\mathbb{T}^{3}$")


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r"\\"


def _row(row: PrintedRow) -> list[str]:
    lines = [_line([escape(row.label), "ours", *(_ours(cell) for cell in row.cells)])]
    if row.in_paper:
        lines.append(_line(["", "paper", *(_marked(cell.paper_value, cell.paper_mark) for cell in row.cells)]))
    if any(cell.difference != "–" for cell in row.cells):
        lines.append(_line(["", "difference", *(escape(cell.difference) for cell in row.cells)]))
    return lines


def _ours(cell: PrintedCell) -> str:
    flags = rf"\textsuperscript{{{escape(cell.flagged)}}}" if cell.flags else ""
    return " ".join(part for part in (_marked(cell.value, cell.mark) + flags, escape(cell.count)) if part)


def _marked(text: str, mark: str | None) -> str:
    text = escape(text)
    return {"best": rf"\textbf{{{text}}}", "second": rf"\underline{{\smash{{{text}}}}}"}.get(mark or "", text)
