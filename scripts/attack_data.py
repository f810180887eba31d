"""Damage data on purpose, hundreds of times, and count what is accepted though it is wrong.

    python scripts/attack_data.py                    every kind; a Markdown table; exit status 1 if anything wrong was accepted
    python scripts/attack_data.py labels downloads   some kinds
    python scripts/attack_data.py --cases 5          fewer cases of each kind
    python scripts/attack_data.py --label now        the counts also into docs/reliability/now.json; `attack.py --page` shows them
    PYTHONPATH=../older python scripts/attack_data.py --label before     another checkout of the project

A case is `refused` with one line that says why, or `right`: the undamaged result came out all the same. Anything else is wrong:
other pictures or labels, a file that is lost, an error that is no sentence. Seeds are fixed. No network is needed.
"""

import argparse
import importlib
import logging
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from attack_counts import keep, keep_reason
from data_attacks import older

import t3cen
from t3cen.data.errors import DataError

CODE = Path(t3cen.__file__).resolve().parents[1]
Case = tuple[str, Callable[[], bool]]
"""What is done, and a function that does it and tells whether the result is right."""
MODULES: dict[str, dict[str, tuple[int, str]]] = {
    "labels": {"labels": (120, "labels out of range, fractions, absent classes")},
    "files": {
        "check": (90, "damaged and missing pictures, looked for by `--check`"),
        "listed": (60, "one flipped bit in any file of an unpacked set"),
        "noise": (4, "noise in the format of MNIST and Fashion-MNIST"),
        "hidden": (11, "files that macOS leaves in every folder"),
    },
    "pictures": {
        "flips": (200, "one flipped bit in a PNG of Camelyon17"),
        "modes": (120, "pictures of all modes and depths"),
        "coco": (100, "COCO files: EXIF orientations, frames, boxes outside, ids twice, other folders"),
    },
    "trust": {
        "pickles": (40, "pickles that run code, in a root marked FAKE"),
        "blocks": (60, "unpacked blocks: damaged, cut, of another source, of any date"),
    },
    "network": {
        "downloads": (200, "downloads from three mirrors that fail in 18 ways"),
        "together": (20, "two downloads of one file at once"),
        "disk": (40, "no room on the disk: downloads, archives, blocks"),
    },
}
"""By module of scripts/data_attacks and by kind: how many cases are tried unless told, and what is done."""
KINDS = {kind: (title, cases, module) for module, kinds in MODULES.items() for kind, (cases, title) in kinds.items()}


def verdict(act: Callable[[], bool]) -> tuple[str, str]:
    """`refused`, `right` or `wrong`, and what was said."""
    try:
        return ("right", "") if act() else ("wrong", "accepted")
    except DataError as error:
        return ("wrong" if "\n" in str(error) else "refused"), str(error)
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"


def attack(kind: str, folder: Path, cases: int | None = None, wrong: list[str] | None = None) -> Counter[str]:
    """Run the cases of one kind; how many were `refused`, `right` and `wrong`.

    Wrong ones are named on standard error, and added to `wrong`.

    Raises:
        ImportError: the code that is attacked has not what this kind attacks.
    """
    title, count, module = KINDS[kind]
    make: Callable[[Path, int], Iterator[Case]] = getattr(importlib.import_module(f"data_attacks.{module}"), kind)
    found: Counter[str] = Counter()
    for what, act in make(folder, cases or count):
        result, said = verdict(act)
        found[result] += 1
        if result == "wrong":
            print(f"{title}: {what}: {said}", file=sys.stderr)
            if wrong is not None:
                wrong.append(f"{what}: {said}"[:200])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"any of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--cases", type=int, help="cases of each kind (default: each kind's own number)")
    parser.add_argument("--label", help="of the counts that are kept")
    options = parser.parse_args()
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"unknown kind {', '.join(unknown)}; choose from {', '.join(KINDS)}")
    older.adapt()
    logging.getLogger("t3cen").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    print("| kind | cases | refused in one line | right all the same | lost or wrong |\n|---|---|---|---|---|", flush=True)
    lost = 0
    for kind in options.kinds or KINDS:
        title, wrong = f"Data: {KINDS[kind][0]}", list[str]()
        try:
            with tempfile.TemporaryDirectory() as folder:
                found = attack(kind, Path(folder), options.cases, wrong)
        except ImportError as error:
            print(f"| {KINDS[kind][0]} | not tried: {error} |", flush=True)
            if options.label:
                keep_reason(options.label, kind, title, "this code has nothing of the kind")
            continue
        lost += found["wrong"]
        cells = (KINDS[kind][0], found.total(), found["refused"], found["right"], found["wrong"])
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        if options.label:
            keep(options.label, kind, title, found.total(), wrong, code=CODE)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
