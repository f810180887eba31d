"""Draw figures: t3cen figures [NAME ...|all] [KEY=VALUE ...]

    t3cen figures                             lists the figures
    t3cen figures coverage entropy_density    two of them
    t3cen figures all                         every one
    t3cen figures coverage figure.order=6     with another setting (conf/figure/coverage.yaml)

PNG, PDF and JSON (command, configuration, numbers) go to outputs/figures.
"""

import json
import shlex
import sys

from t3cen.commands import enter
from t3cen.figures import registry


def main(arguments: list[str]) -> int:
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    wanted = [a for a in arguments if "=" not in a]
    overrides = [a for a in arguments if "=" in a]
    if not wanted:
        print(__doc__, "\nFigures:", *registry.names(), sep="\n  ")
        return 0
    failed = []
    for name in registry.names() if "all" in wanted else wanted:
        command = shlex.join(["t3cen", "figures", name, *overrides])
        try:
            paths, numbers = registry.make(name, overrides, command)
        except Exception as error:  # one figure that cannot be drawn must not cost the others
            failed.append(name)
            cause = error.__cause__ or error  # Hydra wraps what a figure raises
            print(f"{name}: {type(cause).__name__}: {cause}", file=sys.stderr)
            continue
        print(f"{name}: {paths['png']} and .pdf, .json")
        print(json.dumps(numbers, indent=1))
    if failed:
        print(f"not drawn: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    enter("figures", main)
