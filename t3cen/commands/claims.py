"""Print every claim of the paper with a verdict, its numbers and their commands: docs/claims.md.

t3cen claims > docs/claims.md
t3cen claims --outputs outputs --scale paper
"""

import sys
from pathlib import Path

from t3cen.commands import enter, parser_of
from t3cen.project import PROJECT
from t3cen.results.cells import Cells
from t3cen.results.records import load
from t3cen.tables.claim_checks import Evidence
from t3cen.tables.claims import judge, read, render

COMMITTED = PROJECT / "docs" / "results"


def main(arguments: list[str]) -> int:
    parser = parser_of("claims", __doc__)
    parser.add_argument("--outputs", type=Path, default=COMMITTED, help="folder of the results (default: docs/results)")
    parser.add_argument("--scale", default="laptop", help="laptop (default), paper or smoke")
    options = parser.parse_args(arguments)
    try:
        evidence = Evidence(Cells(load(options.outputs), options.scale), options.outputs)
        sys.stdout.write(render([judge(claim, evidence) for claim in read()], options.scale))
    except (ValueError, FileNotFoundError) as error:
        sys.stderr.write(f"t3cen claims: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    enter("claims", main)
