"""Progress: a bar on a terminal, a line now and then in a file."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

log = logging.getLogger(__name__)

LINE = "{desc}: {n_fmt} of {total_fmt} {unit}, {rate_fmt}, {remaining} left{postfix}"
"""What a line in a file says."""
EVERY = 15.0
"""Seconds between two lines in a file."""


class Progress(tqdm):
    """tqdm, which on anything but a terminal logs what its bar would say.

    Args:
        what: in a word or two; what is counted and how much of it there is are tqdm's `unit` and `total`.
        every: seconds between two lines where standard error is no terminal.
        says: asked whenever it is shown what else is to be shown, as `{"loss": "0.31"}`.
    """

    monitor_interval = 0  # no thread

    def __init__(self, what: str, *, every: float = EVERY, says: Callable[[], Mapping[str, str]] = dict, **settings: Any) -> None:
        self.is_drawn, self.says = sys.stderr.isatty(), says
        drawn = {"dynamic_ncols": True}
        logged = {"mininterval": every, "miniters": 0, "delay": every, "leave": False, "bar_format": LINE, "file": io.StringIO()}
        super().__init__(desc=what, **(settings | (drawn if self.is_drawn else logged)))

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Draw the bar, or log a line."""
        if msg is None:
            self.postfix = ", ".join(f"{key} {value}" for key, value in self.says().items())
        if self.is_drawn:
            super().display(msg, pos)
        elif msg is None:
            log.info("%s", str(self))  # as it is, whenever the record is formatted


@contextmanager
def counted_bytes(what: str, total: int | None, have: int = 0) -> Iterator[Progress]:
    """Progress of a file in bytes, with its rate."""
    scale: dict[str, Any] = {"unit": "B", "unit_scale": True, "unit_divisor": 1024}
    with Progress(what, every=EVERY, total=total or None, initial=have, **scale) as progress:
        yield progress


@contextmanager
def logs_beside() -> Iterator[None]:
    """Log above the bars inside, not through them."""
    if sys.stderr.isatty():
        with logging_redirect_tqdm():
            yield
    else:
        yield


def say(text: str) -> None:
    """Write a line to standard output; a reader who went away (`| head`) does not mind."""
    try:
        # A bar that was cleared leaves the cursor behind its blanks.
        sys.stdout.write("\r" * sys.stdout.isatty() + f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends


class Terminal(Console):
    """rich's console, which ends with status 1 where a reader went away; here that is no error."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
