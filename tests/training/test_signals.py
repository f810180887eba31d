"""Requests to stop reach a run at a moment it can save itself, from its first instruction on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from t3cen.training.signals import INTERRUPTED, KEYBOARD, Stopped, Watch, held

HEEDS = "import time; time.sleep(0.5); from t3cen.training.signals import heed; heed(); time.sleep(30)"


def started(code):
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGUSR2, INTERRUPTED), (signal.SIGTERM, INTERRUPTED), (signal.SIGINT, KEYBOARD)]
)
def test_a_signal_during_the_start_waits_for_its_handler(number, status):
    with held():
        child = started(HEEDS)
    child.send_signal(number)  # Python itself has hardly begun
    assert child.wait(25) == status


def test_without_holding_it_the_signal_kills():
    child = started(HEEDS)
    child.send_signal(signal.SIGUSR2)
    assert child.wait(25) == -signal.SIGUSR2


def test_a_run_is_asked_to_stop_when_its_parent_is_killed(tmp_path):
    grandchild = (
        "import os, time; from t3cen.training.signals import follow_parent, heed; "
        "follow_parent(); heed(); print(os.getpid(), flush=True); time.sleep(30)"
    )
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {grandchild!r}]); time.sleep(30)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
        end = time.monotonic() + 10
        while running(pid):
            assert time.monotonic() < end
            time.sleep(0.05)


def running(pid):
    stat = Path("/proc", str(pid), "stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_watch_notes_and_gives_back():
    before = signal.getsignal(signal.SIGUSR2)
    watch = Watch()
    watch.on()
    try:
        os.kill(os.getpid(), signal.SIGUSR2)
        assert watch.asked == signal.SIGUSR2
        assert watch.waited >= 0
    finally:
        watch.off()
    assert signal.getsignal(signal.SIGUSR2) == before


def test_ctrl_c_twice_does_not_wait(capfd):
    watch = Watch()
    watch.on()
    try:
        os.kill(os.getpid(), signal.SIGINT)
        assert watch.asked == signal.SIGINT
        assert "again stops at once" in capfd.readouterr().err
        with pytest.raises(Stopped, match="SIGINT") as stopped:
            os.kill(os.getpid(), signal.SIGINT)
        assert stopped.value.code == KEYBOARD
    finally:
        watch.off()
