"""Attacks on the files of a run: one bit or character changed, or an end cut off, at places drawn at random."""

from __future__ import annotations

import json
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

BEGIN = """
import json, sys
from pathlib import Path
path, changes, more = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
folder, whole = path.parent, path.read_bytes()
"""
READ_LAST = """
from t3cen.training.checkpoints import resume_point
def accepted(): return resume_point(folder, *more) != folder / "previous.ckpt"
"""
READ_FINAL = """
try:
    from t3cen import load
except ImportError:  # of older code, which has this for figures
    import torch
    from t3cen.figures.networks import load_weights
    class Any(torch.nn.Module):
        def load_state_dict(self, weights): pass
    def load(path):
        try: load_weights(Any(), path)
        except Exception as error: raise ValueError from error
load(path)
def accepted():
    try: load(path)
    except ValueError: return False
    return True
"""
READ_RECORD = """
from t3cen.results import load
[before] = load(folder).records
def accepted():
    found = load(folder)
    same = [record.content for record in found.records] == [before.content]
    named = not found.records and [item.path for item in found.refused if item.reason] == [path]
    return not (same or named)
"""
END = """
for at, value in changes:
    path.write_bytes(whole[:at] + (bytes([value]) + whole[at + 1 :] if value >= 0 else b""))
    try: print("accepted" if accepted() else "well")
    except Exception as error: print("raised", type(error).__name__, sep="-")
"""


def last_flips(attack: Any, cases: int) -> Iterator[str]:
    """`last.ckpt` with one bit changed: the one before it must be gone on from."""
    return _last(attack, _flips(attack, attack.stopped() / "last.ckpt", cases))


def last_cuts(attack: Any, cases: int) -> Iterator[str]:
    """`last.ckpt` cut short: the one before it must be gone on from."""
    return _last(attack, _cuts(attack, attack.stopped() / "last.ckpt", cases))


def final_flips(attack: Any, cases: int) -> Iterator[str]:
    """`final.ckpt` with one bit changed: it must be refused."""
    path = _final(attack)
    return _read(attack, READ_FINAL, path, _flips(attack, path, cases))


def final_cuts(attack: Any, cases: int) -> Iterator[str]:
    """`final.ckpt` cut short: it must be refused."""
    path = _final(attack)
    return _read(attack, READ_FINAL, path, _cuts(attack, path, cases))


def record_flips(attack: Any, cases: int) -> Iterator[str]:
    """`result.json`, one bit or character changed: refused by name, or says the same."""
    path = attack.alone()[0] / "result.json"
    return _read(attack, READ_RECORD, path, _flips(attack, path, cases, characters=True))


def record_cuts(attack: Any, cases: int) -> Iterator[str]:
    """`result.json` cut short: refused by name, or says the same."""
    path = attack.alone()[0] / "result.json"
    return _read(attack, READ_RECORD, path, _cuts(attack, path, cases))


Change = tuple[int, int]
"""A place, and the byte that is put there; less than 0 where the file ends there."""


def _flips(attack: Any, path: Path, cases: int, characters: bool = False) -> list[Change]:
    """One bit a case or, with `characters`, every other time another character."""
    whole, chance = path.read_bytes(), attack.chance
    places = [chance.randrange(len(whole)) for _ in range(cases)]
    return [
        (at, chance.choice(string.printable.encode()) if characters and case % 2 else whole[at] ^ 1 << chance.randrange(8))
        for case, at in enumerate(places)
    ]


def _cuts(attack: Any, path: Path, cases: int) -> list[Change]:
    """Nothing left, one byte, all but a few bytes, and anything between."""
    size = path.stat().st_size
    edges = [0, 1, *(size - less for less in (1, 2, 64, 65, 71, 72, 73, 100)), size // 2]
    return [(at, -1) for at in [*edges, *(attack.chance.randrange(size) for _ in range(cases))][:cases]]


def _final(attack: Any) -> Path:
    return attack.alone()[0] / "checkpoints" / "final.ckpt"


def _last(attack: Any, changes: list[Change]) -> Iterator[str]:
    path = attack.stopped() / "last.ckpt"
    identity = torch.load(path, weights_only=True)["config_hash"]
    return _read(attack, READ_LAST, path, changes, identity)


def _read(attack: Any, program: str, path: Path, changes: list[Change], *more: str) -> Iterator[str]:
    """The file with one change after the other, read by a program that prints what it took."""
    whole = path.read_bytes()
    command = [sys.executable, "-c", BEGIN + program + END, str(path), json.dumps(changes), *more]
    done = subprocess.run(command, env=attack.environment, cwd=attack.code, capture_output=True, text=True, check=False)
    path.write_bytes(whole)
    answers = done.stdout.split()
    if len(answers) != len(changes):
        raise SystemExit(f"the reader of {path.name} broke off:\n{done.stderr[-2000:]}")
    for (at, value), answer in zip(changes, answers, strict=True):
        what = f"byte {at} of {path.name}, made {value}" if value >= 0 else f"{path.name} cut at byte {at}"
        yield "" if answer == "well" else f"{what}: {answer}"
