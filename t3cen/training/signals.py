"""Requests to stop: from a cluster or `kill` (SIGTERM, SIGUSR2), or from the keyboard (SIGINT).

A request is noted and changes nothing else. Its signals are blocked, in this process and in all that it starts, so that
loader processes and libraries never hear of it; a thread waits for them. Whoever can stop looks at `asked` when it can.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children, get_context, resource_tracker

INTERRUPTED = 75
"""Exit status of a run that is unfinished, not failed, and goes on when started again (EX_TEMPFAIL)."""
KEYBOARD = 130
"""The same, asked for with Ctrl-C."""
ASKS = (signal.SIGTERM, signal.SIGUSR2, signal.SIGINT)
AGAIN = 1.0
"""Seconds between two Ctrl-C that a person pressed; `timeout` and others send one signal twice at once."""

_LISTENER = "requests to stop"
_first: tuple[int, float] | None = None
_noted = threading.Event()


class Stopped(SystemExit):
    """The process stops because signal `number` asked it to."""

    def __init__(self, number: int) -> None:
        super().__init__(KEYBOARD if number == signal.SIGINT else INTERRUPTED)
        self.number = number

    def __str__(self) -> str:
        return signal.Signals(self.number).name


def heed() -> None:
    """Note requests to stop, from the moment their signals were blocked on; to be called before other threads begin."""
    if any(thread.name == _LISTENER for thread in threading.enumerate()):
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, ASKS)
    for number in ASKS:
        signal.signal(number, lambda number, frame: note(number))  # for where a library unblocks them all the same
    atexit.register(_end_loaders)  # runs before multiprocessing's own, which would wait for them
    threading.Thread(target=_listen, name=_LISTENER, daemon=True).start()


def _end_loaders() -> None:
    """Kill loader processes that are left when this one ends, by an error say: the SIGTERM they are sent never reaches them."""
    for child in active_children():
        if child.daemon:
            child.kill()


def _listen() -> None:
    while True:
        note(signal.sigwait(ASKS))


def note(number: int) -> None:
    """Take down a request; a second Ctrl-C ends the process, whose files are whole or absent at every moment."""
    global _first
    before, now = _first, time.monotonic()
    if before is None:
        _first = number, now
        _noted.set()
        if number == signal.SIGINT:
            os.write(2, b"\nstopping as soon as everything is saved; Ctrl-C again stops at once\n")
    elif number == before[0] == signal.SIGINT and now - before[1] > AGAIN:
        os._exit(KEYBOARD)


def asked() -> int | None:
    """The first signal that asked this process to stop, or None."""
    return _first and _first[0]


def waited() -> float:
    """Seconds since then."""
    return time.monotonic() - _first[1] if _first else 0.0


def pause(seconds: float) -> None:
    """Sleep, but only until this process is asked to stop."""
    _noted.wait(seconds)


def stop_if_asked() -> None:
    """Stop here, where nothing is lost.

    Raises:
        Stopped: there was a request.
    """
    if _first:
        raise Stopped(_first[0])


def follow(pipe: int) -> None:
    """Be asked to stop when the process at the other end of `pipe` ends, however it ends, even before this is called."""

    def wait() -> None:
        while os.read(pipe, 1):
            pass
        note(signal.SIGTERM)

    threading.Thread(target=wait, name="the end of the driver", daemon=True).start()


@contextmanager
def held() -> Iterator[None]:
    """Processes started inside begin with requests to stop held back until they `heed` them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def keep_held(start_method: str | None) -> None:
    """Have multiprocessing start its resource tracker now, if it needs one: doing so unblocks signals in Python 3.11 and 3.12."""
    if get_context(start_method).get_start_method() != "fork":
        with held():
            resource_tracker.ensure_running()
