"""What a person calls: `t3cen NAME`, or the script of that name in a checkout (`t3cen.project.SCRIPTS`)."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from t3cen.extras import require

require("suite")

PIPE = 128 + signal.SIGPIPE
"""Exit status of a command whose reader went away, as of one that SIGPIPE ended."""
KEYBOARD = 130


class Parser(argparse.ArgumentParser):
    """argparse's, which tells a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; {self.prog} --help shows what it takes\n")


def parser_of(name: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """The parser of `t3cen <name>`, which prints description and epilog as they are."""
    layout = argparse.RawDescriptionHelpFormatter
    return Parser(f"t3cen {name}", description=description, epilog=epilog, formatter_class=layout)


def enter(name: str, main: Callable[[list[str]], int | None]) -> NoReturn:
    """Call `main` with the arguments of this process, and exit with its status.

    Ctrl-C, a reader who went away (`| head -1`), files that cannot be written and names that conf/ does not have end it in one
    line or none. Characters that the terminal does not have are written as escapes.
    """
    steady()
    try:
        status = main(sys.argv[1:]) or 0
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        status = PIPE
    except KeyboardInterrupt:
        sys.stderr.write(f"\nt3cen {name}: stopped; what is whole is kept, the same command goes on\n")
        status = KEYBOARD
    except Exception as error:
        if not (told := _told(error)):
            raise
        sys.stderr.write(f"t3cen {name}: {told}\n")
        status = 1
    sys.exit(status)


def _told(error: Exception) -> str:
    """A line for the person who called, if the error is of a file that cannot be used or of a name that conf/ does not have."""
    from hydra.errors import HydraException  # here: mistakes are rare, and these take a while
    from omegaconf.errors import OmegaConfBaseException

    if isinstance(error, HydraException | OmegaConfBaseException):
        from t3cen.training.explain import explain

        return explain(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; choose another place, or see to its rights and room"
    return ""


def steady() -> None:
    """Give this process streams that take every character."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


for _name in ("stdout", "stderr"):
    if getattr(sys, _name) is None:  # closed: it leads nowhere, and commands may look at it while they are imported
        setattr(sys, _name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (as long as the process)
