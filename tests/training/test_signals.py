"""Requests to stop are noted from a process's first instruction on, and nothing else becomes of them."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from runs import PROJECT, environment, forget

from t3cen.training import signals
from t3cen.training.signals import INTERRUPTED, KEYBOARD, held

HEEDS = """
import time
time.sleep(0.5)
from t3cen.training import signals
signals.heed()
signals.pause(30)
signals.stop_if_asked()
"""
LOADS = """
import sys, torch
from torch.utils.data import DataLoader
from t3cen.training import signals

class Slow(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, index):
        import time; time.sleep(0.01)
        return index

if __name__ == "__main__":
    signals.heed()
    signals.keep_held(sys.argv[1])
    print("loads", flush=True)
    for _ in range(int(sys.argv[2])):  # workers are started anew each time
        loader = DataLoader(Slow(), batch_size=4, num_workers=2, multiprocessing_context=sys.argv[1])
        assert torch.cat(list(loader)).tolist() == list(range(64))
    print("all loaded,", signals.asked(), flush=True)
"""


RAISES = """
import multiprocessing, time
from t3cen.training import signals
signals.heed()
multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,), daemon=True).start()
raise ValueError("broken off")
"""


def started(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(), start_new_session=True,
    )  # fmt: skip


@pytest.fixture
def asked_nothing():
    forget()
    yield
    forget()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGUSR2, INTERRUPTED), (signal.SIGTERM, INTERRUPTED), (signal.SIGINT, KEYBOARD)]
)
def test_a_signal_during_the_start_is_noted_later(number, status):
    with held(), started(HEEDS) as child:
        child.send_signal(number)  # Python itself has hardly begun
        assert child.wait(25) == status


def test_without_holding_it_the_signal_kills():
    with started(HEEDS) as child:
        child.send_signal(signal.SIGUSR2)
        assert child.wait(25) == -signal.SIGUSR2


def test_a_process_that_raises_does_not_wait_for_its_loaders():
    with started(RAISES) as child:
        try:
            _, told = child.communicate(timeout=25)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        assert "broken off" in told
        assert child.returncode == 1


@pytest.mark.fast(str(int(signal.SIGTERM)))
@pytest.mark.parametrize("number", signals.ASKS)
def test_loader_processes_do_not_hear_of_it_also_while_they_are_started(number, tmp_path):
    with started(LOADS, "fork", "20") as child:
        assert child.stdout.readline() == "loads\n"
        for _ in range(40 if number != signal.SIGINT else 1):
            os.killpg(child.pid, number)
            time.sleep(0.05)
        told, errors = child.communicate(timeout=120)
    assert (told, errors.strip().partition("stopping as soon")[0]) == (f"all loaded, {int(number)}\n", "")


@pytest.mark.slow
def test_nor_do_those_that_are_not_forked(tmp_path):
    (tmp_path / "loads.py").write_text(LOADS)
    command = [sys.executable, str(tmp_path / "loads.py"), "spawn", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment(PYTHONPATH=str(PROJECT)), start_new_session=True, **pipes) as child:
        assert child.stdout.readline() == "loads\n"
        while child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
            time.sleep(0.05)
        told, errors = child.communicate()
    assert (told, errors) == (f"all loaded, {int(signal.SIGTERM)}\n", "")


def test_the_end_of_the_process_at_the_other_end_is_a_request(asked_nothing):
    reading, writing = os.pipe()
    signals.follow(reading)
    signals.pause(0.2)
    assert signals.asked() is None
    os.close(writing)
    signals.pause(10)
    assert signals.asked() == signal.SIGTERM
    os.close(reading)


def test_the_first_request_counts(asked_nothing):
    assert signals.waited() == 0
    signals.stop_if_asked()
    signals.note(signal.SIGUSR2)
    signals.note(signal.SIGINT)
    signals.note(signal.SIGINT)
    assert signals.asked() == signal.SIGUSR2
    assert signals.waited() > 0
    with pytest.raises(signals.Stopped, match="SIGUSR2") as stopped:
        signals.stop_if_asked()
    assert stopped.value.code == INTERRUPTED


def test_ctrl_c_again_does_not_wait_but_the_same_one_twice_does():
    code = HEEDS.replace("signals.pause(30)", "print('waits', flush=True); time.sleep(4)")
    with started(code) as child:
        assert child.stdout.readline() == "waits\n"
        child.send_signal(signal.SIGINT)
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)  # as `timeout` does
        time.sleep(signals.AGAIN + 0.5)
        assert child.poll() is None
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.wait(25) == KEYBOARD
        assert time.monotonic() - begun < 2
        assert "again stops at once" in child.stderr.read()
