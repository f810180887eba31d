"""Being asked to stop: by a cluster or `kill` (SIGTERM, SIGUSR2), or at the keyboard (SIGINT)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

INTERRUPTED = 75
"""Exit status of a run that is unfinished, not failed, and goes on when started again (EX_TEMPFAIL)."""
KEYBOARD = 130
"""The same, asked for with Ctrl-C."""
ASKS = (signal.SIGTERM, signal.SIGUSR2, signal.SIGINT)
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG


class Stopped(SystemExit):
    """The process was asked to stop by signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(KEYBOARD if number == signal.SIGINT else INTERRUPTED)
        self.number = number

    def __str__(self) -> str:
        return signal.Signals(self.number).name


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


def heed() -> None:
    """From now on a request to stop raises `Stopped` wherever this process is; requests that came before, at once."""
    for number in ASKS:
        signal.signal(number, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ASKS)


@contextmanager
def held() -> Iterator[None]:
    """Processes started inside begin with requests to stop held back until they `heed` them: Python needs a moment to start."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def follow_parent(number: int = signal.SIGTERM) -> None:
    """Have this process sent a signal when the one that started it dies (Linux; elsewhere it lives on)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH, number)


class Watch:
    """While `on`, requests to stop are noted in `asked` for a better moment; a second Ctrl-C does not wait for it."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self.since = 0.0
        self._before: dict[int, Any] = {}

    def on(self) -> None:
        if threading.current_thread() is threading.main_thread() and not self._before:
            self._before = {number: signal.signal(number, self._note) for number in ASKS}

    def off(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @property
    def waited(self) -> float:
        """Seconds since it was asked."""
        return time.monotonic() - self.since if self.asked is not None else 0.0

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            if self.asked == number:
                raise Stopped(number)
            # not through logging, whose streams may be in use at this very moment
            os.write(2, b"\nstopping after this step; Ctrl-C again stops at once\n")
        self.asked, self.since = number, time.monotonic()
