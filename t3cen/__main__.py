"""The command `t3cen`: one door to `t3cen.commands`."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

from t3cen import __version__
from t3cen.extras import MissingExtra, require
from t3cen.project import PACKAGE, SCRIPTS

USAGE = """\
Networks equivariant to hue, saturation and luminance: the reproduction suite. t3cen {version}

  t3cen COMMAND [OPTIONS]        t3cen COMMAND --help

{commands}

Data lie in data/ and results in outputs/ of the folder it is called in; every command takes other folders.
"""


def main() -> None:
    """Replace this process by the command that is named on the command line."""
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in ("-h", "--help"):
        lines = (f"  {name.replace('_', '-'):<14}{_summary(PACKAGE / 'commands' / f'{name}.py')}" for name in SCRIPTS)
        sys.stdout.write(USAGE.format(version=__version__, commands="\n".join(lines)))
        return
    if name == "--version":
        sys.stdout.write(f"t3cen {__version__}\n")
        return
    if (module := name.replace("-", "_")) not in SCRIPTS:
        sys.exit(f"t3cen: no command {name!r} (commands: {', '.join(SCRIPTS).replace('_', '-')})")
    try:
        require("suite")
    except MissingExtra as error:
        sys.exit(f"t3cen {name}: {error}")
    os.environ["PYTHONSAFEPATH"] = "1"  # the folder it is called in holds data, not code
    # A process of its own by this name, which Lightning starts again for every further device.
    os.execv(sys.executable, [sys.executable, "-m", f"t3cen.commands.{module}", *arguments])


def _summary(file: Path) -> str:
    """The first sentence of a file's docstring, read without importing what the file needs."""
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").splitlines()[0]


if __name__ == "__main__":
    main()
