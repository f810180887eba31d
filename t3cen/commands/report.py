"""Write one page with every table, figure, curve and run, to be opened from disk or sent by mail.

t3cen report                             outputs/report.html
t3cen report --outputs DIR --to page.html
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from t3cen.commands import enter, parser_of
from t3cen.results.records import load
from t3cen.tables.report import render


def main(arguments: list[str]) -> int:
    parser = parser_of("report", __doc__)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of the results (default: outputs)")
    parser.add_argument("--to", type=Path, help="the page (default: report.html in the results folder)")
    options = parser.parse_args(arguments)
    try:
        results = load(options.outputs)
    except FileNotFoundError as error:
        sys.stderr.write(f"t3cen report: {error}\n")
        return 2
    page = options.to or options.outputs / "report.html"
    generated = f"Written {datetime.now(UTC):%Y-%m-%d %H:%M} UTC from {len(results.records)} results"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(render(options.outputs, results, page, generated), encoding="utf-8", errors="backslashreplace")
    print(f"{page} ({page.stat().st_size / 1e6:.1f} MB, {len(results.records)} results, {len(results.refused)} refused)")
    return 0


if __name__ == "__main__":
    enter("report", main)
