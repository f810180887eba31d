"""Attack runs at random, and count what was lost or wrong: one changed bit, a request to stop, a kill.

python scripts/attack.py                                    every kind on this code, into docs/reliability/now.json
python scripts/attack.py --kinds stops --cases 6            one kind, fewer cases
python scripts/attack.py --kinds stops --seed 2 --more      other moments; counts are added to those that are there
python scripts/attack.py --code ../older --label before     another checkout of the project
python scripts/attack.py --page                             docs/reliability.md from what was counted

A case of `stops` or `kills` is a run with two loader processes in a process group of its own. The signal goes to the whole
group, as from a terminal, `timeout` or SLURM, at a moment drawn from the run's length, its start included. Then the same
command is given again, and weights and metrics must be those of a run that was left alone, bit for bit.
`limits` and `preemptions` start a SLURM.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import torch
from attack_counts import keep, write_page
from attack_files import final_cuts, final_flips, last_cuts, last_flips, record_cuts, record_flips
from attack_slurm import limits, preemptions

PROJECT = Path(__file__).resolve().parents[1]
SETTINGS = (
    "experiment=mnist_h4", "scale=smoke", "num_workers=2", "logger.wandb=off", "selection=validation", "data.train_size=24",
    "data.test_size=64", "trainer.max_steps=-1", "trainer.max_epochs=25", "trainer.accelerator=cpu",
)  # fmt: skip
ASKS = {signal.SIGINT: 130, signal.SIGTERM: 75, signal.SIGUSR2: 75}


class Attack:
    """Runs of the code in `code`, in folders of their own under `place`."""

    def __init__(self, code: Path, place: Path, chance: random.Random) -> None:
        self.code, self.place, self.chance = code, place, chance
        self._alone: dict[str, tuple[Path, float]] = {}

    def start(
        self, name: str, *more: str, variables: Mapping[str, str] | None = None, room: int | None = None
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "train.py", *SETTINGS, f"outputs={self.place / name}", *more]
        quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True}
        environment = {**self.environment, **(variables or {})}
        with (self.place / f"{name}.log").open("ab") as log:
            if room is None:
                return subprocess.Popen(command, cwd=self.code, env=environment, stdout=log, **quiet)
            limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (room, room))  # which holds for the log too
            return subprocess.Popen(command, cwd=self.code, env=environment, stdout=subprocess.PIPE, preexec_fn=limit, **quiet)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.code), "OMP_NUM_THREADS": "1"}

    def folder(self, name: str) -> Path | None:
        """Where the run put itself; None where it never got that far."""
        return next((path.parent for path in (self.place / name).rglob("config.json")), None)

    def alone(self, name: str = "alone", *more: str, variables: Mapping[str, str] | None = None) -> tuple[Path, float]:
        """A run that nothing happens to, and the seconds it took."""
        if name not in self._alone:
            begun = time.monotonic()
            if self.start(name, *more, variables=variables).wait():
                raise SystemExit(f"a run that nothing was done to failed:\n{(self.place / f'{name}.log').read_text()}")
            folder = self.folder(name)
            assert folder is not None
            self._alone[name] = folder, time.monotonic() - begun
        return self._alone[name]

    def same(self, one: Path, other: Path | None) -> bool:
        """Whether two runs have the same weights, metrics and lengths, bit for bit."""
        assert other is not None
        records = [json.loads((folder / "result.json").read_text()) for folder in (one, other)]
        weights = [torch.load(folder / "checkpoints" / "final.ckpt", weights_only=True)["state_dict"] for folder in (one, other)]
        equal = all(torch.equal(value, weights[1][key]) for key, value in weights[0].items())
        return equal and all(records[0][key] == records[1][key] for key in ("metrics", "steps", "epochs"))

    def stopped(self) -> Path:
        """The checkpoints of a run that was killed when it had written two."""
        name = "stopped"
        if there := list((self.place / name).rglob("previous.ckpt")):
            return there[0].parent
        process = self.start(name, "checkpoint_every.steps=4")
        while process.poll() is None and not list((self.place / name).rglob("previous.ckpt")):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return next((self.place / name).rglob("previous.ckpt")).parent


def stops(attack: Attack, cases: int) -> Iterator[str]:
    """A request to stop, three signals in turn: saved, the right status, gone on from."""
    numbers = list(ASKS)
    for case in range(cases):
        yield _interrupted(attack, f"stop{case}", numbers[case % len(numbers)])


def kills(attack: Attack, cases: int) -> Iterator[str]:
    """`kill -9` of the whole group: gone on from what was saved before."""
    for case in range(cases):
        yield _interrupted(attack, f"kill{case}", signal.SIGKILL, "checkpoint_every.steps=5")


def loaders(attack: Attack, cases: int) -> Iterator[str]:
    """`kill -9` of one loader process, as out of memory: told, and gone on from."""
    for case in range(cases):
        name, (alone, seconds) = f"loader{case}", attack.alone()
        process = attack.start(name, "checkpoint_every.steps=5")
        end = time.monotonic() + attack.chance.uniform(seconds / 2, seconds)
        while process.poll() is None and (time.monotonic() < end or not _children(process.pid)):
            time.sleep(0.02)
        if killed := _children(process.pid):
            with suppress(ProcessLookupError):
                os.kill(attack.chance.choice(killed), signal.SIGKILL)
        status = _ended(process, 10 * seconds)
        yield _failed(attack, name, status, alone, "one loader killed", "checkpoint_every.steps=5")


def full_disks(attack: Attack, cases: int) -> Iterator[str]:
    """A disk without room for more than so many bytes a file: told, and gone on from."""
    for case in range(cases):
        name, (alone, _) = f"disk{case}", attack.alone()
        room = attack.chance.randrange(500, (alone / "checkpoints" / "final.ckpt").stat().st_size)
        process = attack.start(name, "checkpoint_every.steps=5", room=room)
        (attack.place / f"{name}.log").write_bytes(process.communicate()[0])
        yield _failed(attack, name, process.returncode, alone, f"room for {room} bytes", "checkpoint_every.steps=5")


def _children(process: int) -> list[int]:
    """Processes that this one started, as long as it goes on."""
    with suppress(OSError):
        return [int(child) for child in Path("/proc", str(process), "task", str(process), "children").read_text().split()]
    return []


def _failed(attack: Attack, name: str, status: int | None, alone: Path, what: str, *more: str) -> str:
    """What was lost or wrong of a run that could not go on, or nothing."""
    if status is None:
        return f"{what}: it hung and had to be killed"
    said = (attack.place / f"{name}.log").read_text()
    if status and not any(word in said for word in ("File too large", "killed")):
        return f"{what}, status {status}: the reason was not told"
    if left := [path.name for path in (attack.place / name).rglob(".*.ckpt")]:
        return f"{what}, status {status}: {left[0]} is left"
    if again := attack.start(name, *more).wait():
        return f"{what}: the same command again ended with status {again}"
    return "" if attack.same(alone, attack.folder(name)) else f"{what}: the run that went on differs from the one left alone"


def _interrupted(attack: Attack, name: str, number: signal.Signals, *more: str) -> str:
    """What was lost or wrong, or nothing."""
    alone, seconds = attack.alone()
    moment = attack.chance.uniform(0, seconds)
    process = attack.start(name, *more)
    time.sleep(moment)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    status, folder = _ended(process, 10 * seconds), attack.folder(name)
    what = f"{number.name} after {moment:.1f} s of {seconds:.1f}, status {status}"
    if status is None:
        return f"{what}: it hung and had to be killed"
    if folder and number in ASKS:
        done = (folder / "result.json").exists()
        if status != (0 if done else ASKS[number]):
            return f"{what}, not {0 if done else ASKS[number]}"
        if not done and _trained(folder) and not (folder / "checkpoints" / "last.ckpt").exists():
            return f"{what}: nothing was saved"
        if (folder / "failure.json").exists():
            return f"{what}: called a failure"
    if again := attack.start(name, *more).wait():
        return f"{what}: the same command again ended with status {again}"
    return "" if attack.same(alone, attack.folder(name)) else f"{what}: the run that went on differs from the one left alone"


def _ended(process: subprocess.Popen[bytes], patience: float) -> int | None:
    """Its exit status; None where it had to be killed after so many seconds."""
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _trained(folder: Path) -> bool:
    return any(len(path.read_text().splitlines()) > 1 for path in folder.glob("csv/*/metrics.csv"))


KINDS: dict[str, tuple[Callable[[Attack, int], Iterator[str]], int]] = {
    "last_flips": (last_flips, 600),
    "last_cuts": (last_cuts, 200),
    "final_flips": (final_flips, 600),
    "final_cuts": (final_cuts, 200),
    "record_flips": (record_flips, 3000),
    "record_cuts": (record_cuts, 200),
    "stops": (stops, 20),
    "kills": (kills, 6),
    "loaders": (loaders, 6),
    "full_disks": (full_disks, 6),
    "limits": (limits, 3),
    "preemptions": (preemptions, 3),
}
"""By name: the attack, and how many cases of it are tried unless told."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="which; all unless told")
    parser.add_argument("--cases", type=int, help="how many of each kind")
    parser.add_argument("--code", type=Path, default=PROJECT, help="the checkout that is attacked (default: this one)")
    parser.add_argument("--label", default="now", help="of the counts (default: now)")
    parser.add_argument("--seed", type=int, default=1, help="of moments and bits")
    parser.add_argument("--more", action="store_true", help="add to what was counted before")
    parser.add_argument("--page", action="store_true", help="write docs/reliability.md and attack nothing")
    options = parser.parse_args()
    if options.page:
        write_page()
        return 0
    lost, seen = 0, list[str]()
    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        attack = Attack(options.code.absolute(), Path(place), random.Random(options.seed))
        for kind in options.kinds:
            function, usual = KINDS[kind]
            cases = options.cases or usual
            for case, told in enumerate(function(attack, cases), start=1):
                if told or case % 100 == 0 or cases < 100:
                    print(f"{kind} {case} of {cases}: {told or 'well'}", flush=True)
                seen.append(told)
                if len(seen) == (100 if cases >= 100 else 1) or case == cases:  # so that little is lost if this is broken off
                    wrong = [told for told in seen if told]
                    more = options.more or case > len(seen)
                    keep(options.label, kind, str(function.__doc__), len(seen), wrong, code=attack.code, more=more)
                    lost, seen = lost + len(wrong), []
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
