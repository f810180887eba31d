"""Print tables: ours beside the paper's, cell by cell.

t3cen tables hue_shift
t3cen tables all --scale laptop --output tables.tex      in LaTeX, by the name; also .md, .csv, .html
t3cen tables hue_shift --ours --output mine.tex          ours alone, a line a network, for a paper of your own
"""

import sys
from pathlib import Path

from t3cen.commands import enter, parser_of
from t3cen.experiments.schema import Table, get_table, tables
from t3cen.progress import Progress
from t3cen.results.cells import SOURCES, Cells
from t3cen.results.records import load
from t3cen.tables import html, latex, markdown, spreadsheet
from t3cen.tables.build import build
from t3cen.tables.printed import PrintedTable, filled_rows, own
from t3cen.training.files import write_text

FORMS = {".md": "md", ".tex": "latex", ".csv": "csv", ".html": "html"}


def render(printed: list[PrintedTable], form: str, *, ours_only: bool = False) -> str:
    """All tables in one of the formats; `ours_only` in Markdown or LaTeX."""
    if form == "html":
        return html.page(printed, "T³CEN: results beside the paper's")
    if form == "csv":
        return "".join(spreadsheet.render(table, header=index == 0) for index, table in enumerate(printed))
    return "\n".join({"md": markdown, "latex": latex}[form].render(table, ours_only=ours_only) for table in printed)


def main(arguments: list[str]) -> int:
    parser = parser_of("tables", __doc__)
    parser.add_argument("table", nargs="?", default="all", help="a table of conf/table, or all (default)")
    parser.add_argument("--format", choices=tuple(FORMS.values()), help="default: by the name of --output, else md")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write there, whole or not at all")
    parser.add_argument("--ours", action="store_true", help="ours alone, mean (sd), a line a network: md or latex")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of the results (default: outputs)")
    parser.add_argument("--scale", default="paper", help="paper (default), laptop or smoke; scales are never mixed")
    parser.add_argument("--source", choices=SOURCES, help="only results on pictures from there")
    parser.add_argument("--mix-code", action="store_true", help="average over versions of the training code (marked)")
    options = parser.parse_args(arguments)
    named = options.output.suffix.lower() if options.output else ".md"
    if not (form := options.format or FORMS.get(named, "")):
        parser.error(f"--output {options.output} does not say which format; end it in {', '.join(FORMS)}, or name --format")
    if options.ours and form not in ("md", "latex"):
        parser.error(f"--ours is md or latex, not {form}")
    try:
        chosen = list(tables().values()) if options.table == "all" else [get_table(options.table)]
        results = load(options.outputs)
    except (ValueError, FileNotFoundError) as error:
        sys.stderr.write(f"t3cen tables: {error}\n")
        return 2
    scales = sorted({record.scale for record in results.records})
    if scales and options.scale not in scales:
        sys.stderr.write(
            f"t3cen tables: {options.outputs} has no results at scale {options.scale}, only at {', '.join(scales)}; see --scale\n"
        )
    for item in results.refused:
        sys.stderr.write(f"t3cen tables: refused {item}\n")
    cells = Cells(results, options.scale, options.source, mix_code=options.mix_code)
    shown = Progress("tables", iterable=chosen, unit="table", leave=False, delay=1)
    printed = [_printed(table, build(table, cells, options.outputs, results.refused)) for table in shown]
    if options.ours:
        printed = [table for table in printed if any(own(section) for section in table.sections)]
    text = render(printed, form, ours_only=options.ours)
    if options.output is None:
        sys.stdout.write(text)
        return 0
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.output, text)
    print(f"{options.output}: {len(printed)} table{'' if len(printed) == 1 else 's'}")
    return 0


def _printed(table: Table, built: PrintedTable) -> PrintedTable:
    """A table of our own has nothing to say of rows that nobody has trained yet; one of the paper has its numbers."""
    return filled_rows(built) if table.source == "own" and any(own(section) for section in built.sections) else built


if __name__ == "__main__":
    enter("tables", main)
