"""Freed memory is kept where the process may decide that."""

import subprocess
import sys

import pytest

from t3cen.nn import allocator

PROBE = """
import resource, torch
from t3cen.nn.allocator import keep_freed_memory
print(keep_freed_memory() if {keep} else "not asked")
def touch():
    for size in (2, 3, 5):
        torch.ones(size * 2**20)
for _ in range(5):
    touch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    touch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def probe(keep, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(keep=keep)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", **environment},
    )
    said, faults = done.stdout.split("\n")[:2]
    return said, int(faults)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_memory_comes_back_without_new_pages():
    said, faults = probe(keep=True)
    assert said == "True"
    # 10 MiB of floats are 10,000 pages of 4 KiB a turn.
    assert faults < probe(keep=False)[1] / 10


def test_the_environment_decides_first():
    assert probe(keep=True, MALLOC_TRIM_THRESHOLD_="1000000")[0] == "False"


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
