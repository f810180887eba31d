"""Break the code in many places, one at a time, and count how many the fast tests notice.

    python scripts/mutate.py                 every place of tests/mutations.toml
    python scripts/mutate.py color results   those in files whose path holds one of these words

The last commit is cloned into a temporary folder and broken there. A broken file meets the fast tests of its own
folder, its namesake first, up to the first that fails; that one must pass on the whole file. Exits with status 1 if a
place is missed.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = ROOT / "tests" / "mutations.toml"
PASSED, FAILED = 0, 1
FAILURE = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.M)
"""A line of pytest's summary; the name of a test may hold blanks."""


def tests_of(clone: Path, file: str) -> list[str]:
    """The tests of a file of the package: those of the same name, then those of the same folder."""
    inside = Path(file).relative_to("t3cen")
    mirror, folder = Path("tests", inside.parent, f"test_{inside.name}"), Path("tests", inside.parts[0])
    found = [str(path) for path in (mirror, folder) if (clone / path).exists()]
    return found or sys.exit(f"{file} has no tests of its own: neither {mirror} nor {folder} is there")


def run_fast(clone: Path, *arguments: str) -> tuple[int, str]:
    """Pytest's exit status and what it printed."""
    # Two versions of a file can be of one size and one second, which is all that Python compares its bytecode by.
    variables = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-m", "not slow", *arguments]
    done = subprocess.run(command, cwd=clone, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def first_failure(clone: Path, place: dict[str, str]) -> str | None:
    """The test that fails once `place` is broken, and passes while it is not; the tests that die, where C writes astray."""
    path = clone / place["file"]
    whole = path.read_text()
    path.write_text(whole.replace(place["old"], place["new"]))
    for tests in tests_of(clone, place["file"]):  # one after the other: of several at once pytest chooses the order
        status, printed = run_fast(clone, "-x", tests)
        if status != PASSED:
            break
    path.write_text(whole)
    if status == PASSED:
        return None
    if status < 0:
        return f"{tests}, which dies of {signal.Signals(-status).name}"
    failed = FAILURE.search(printed)
    if status != FAILED or not failed:
        sys.exit(f"{place['file']} with {place['new']!r}: the tests did not run\n{printed[-2000:]}")
    status, printed = run_fast(clone, failed[1])
    if status != PASSED:
        sys.exit(f"{failed[1]} fails before anything is broken\n{printed[-2000:]}")
    return failed[1]


def places(clone: Path, words: list[str]) -> list[dict[str, str]]:
    """The places to break, each found once in its file."""
    listed = tomllib.loads(PLACES.read_text())["place"]
    chosen = [place for place in listed if not words or any(word in place["file"] for word in words)]
    if not chosen:
        sys.exit(f"no place of {PLACES.name} is in a file whose path holds {' or '.join(words)}")
    for place in chosen:
        path = clone / place["file"]
        found = path.read_text().count(place["old"]) if path.exists() else 0
        if found != 1:
            sys.exit(f"{place['file']} holds {place['old']!r} {found} times, once expected; mend {PLACES.name}")
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only files whose path holds one of these words")
    words = parser.parse_args().words
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        chosen = places(clone, words)
        missed = 0
        for place in chosen:
            test = first_failure(clone, place)
            missed += test is None
            verdict = f"caught by {test}" if test else "MISSED"
            print(f"{place['file']}: {place['breaks']}: {verdict}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
