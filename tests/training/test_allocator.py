"""Freed memory is kept where the process may decide that."""

import subprocess
import sys

import pytest

from t3cen.training import allocator

PROBE = """
import torch
from t3cen.training.allocator import keep_freed_memory
def resident():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024
print(keep_freed_memory() if {keep} else "not asked")
torch.ones(1)
before = resident()
blocks = [torch.ones(96 * 2**18 // {count}) for _ in range({count})]
del blocks
print(resident() - before)
"""


def probe(keep, count=4, **environment):
    """What the function said, and how many MiB of 96 the process still holds after it has freed them."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(keep=keep, count=count)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", **environment},
    )
    said, kept = done.stdout.split("\n")[:2]
    return said, int(kept)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 1])
def test_freed_memory_stays(count):
    """In blocks that glibc can be told to keep by their size, and in one that is too large for that."""
    said, kept = probe(True, count)
    assert said == "True"
    assert kept > 80
    assert probe(False, count)[1] < 40


def test_the_environment_decides_first(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1000000")
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _: pytest.fail("the allocator was asked"))
    assert not allocator.keep_freed_memory()


@pytest.mark.parametrize(("answers", "done"), [((1, 1), True), ((0,), False), ((1, 0), False)])
def test_an_allocator_that_refuses(answers, done, monkeypatch):
    for name in allocator.CHOICES:
        monkeypatch.delenv(name, raising=False)
    left = iter(answers)
    library = type("Library", (), {"mallopt": staticmethod(lambda *_: next(left))})
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(allocator.sys, "platform", "linux")
    assert allocator.keep_freed_memory() is done
    assert list(left) == []


def test_other_systems(monkeypatch):
    for name in allocator.CHOICES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(allocator.sys, "platform", "darwin")
    assert not allocator.keep_freed_memory()
    monkeypatch.setattr(allocator.sys, "platform", "linux")
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _: object())
    assert not allocator.keep_freed_memory()
