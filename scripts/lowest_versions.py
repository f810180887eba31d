"""Print the lowest versions that pyproject.toml allows, as a requirements file: what `make test-lowest` installs."""

import re
import tomllib
from itertools import chain
from pathlib import Path

BOUND = re.compile(r"([\w.-]+(?:\[[\w,-]+\])?)>=([\w.]+)(?:,<[\w.]+)?")


def lowest(project: dict) -> list[str]:
    """A line `name==version` for every dependency, those of the extras included.

    Raises:
        ValueError: a dependency is bounded in another form than `name>=version` or `name>=version,<other`.
    """
    lines = []
    for line in chain(project["dependencies"], *project["optional-dependencies"].values()):
        if line.startswith(f"{project['name']}["):
            continue
        if not (bound := BOUND.fullmatch(line)):
            raise ValueError(f"pyproject.toml: {line!r} is not of the form name>=version or name>=version,<other")
        lines.append("==".join(bound.groups()))
    return lines


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads(Path("pyproject.toml").read_text())["project"])))
