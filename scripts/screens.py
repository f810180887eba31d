"""Write the screens of docs/running.md anew: what a person sees, by running it.

    python scripts/screens.py           all of them; some minutes, in a temporary folder
    python scripts/screens.py sweep     one of them
    python scripts/screens.py --check   only say which have another form than the page has; exit status 1 if any

A screen is an indented block below `<!-- screen: NAME -->`. Numbers, times and folders may differ; words may not.
"""

import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
import textwrap
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

PROJECT = Path(__file__).resolve().parents[1]
PAGE = PROJECT / "docs" / "running.md"
MARK = re.compile(r"(<!-- screen: (\w+) -->\n)((?:    .*\n|\n(?=    ))+)")
WIDTH = 110
TERMINAL = re.compile("([\r\n])|(\x1b\\[[0-9]*A)|(\x1b\\[0?K)|\x1b\\[[0-9;?]*[A-Za-z]|([^\x1b])")
"""Ends of lines, steps upwards, ends that are erased, characters; other controls of a terminal are left out."""
LINES = 40
"""Of a longer screen the middle is left out."""

RUN = ["experiment=mnist_h4", "scale=laptop", "seed=3", "trainer.max_epochs=2"]
SIX = ["-m", "experiment=mnist_h4,mnist_z2cnn", "seed=1999,2000,2001", "scale=smoke"]
FAILING = [*SIX, "data.source=files", "data_root=/nowhere"]
MISTAKES = (
    ["experiment=mnist_h4", "lr=0.003"],
    ["experiment=mnist_h4", "seed=abc"],
    ["experiment=mnist_h4", "outputs=/tmp/R&D"],
    ["sweep=hue"],
)


def on_terminal(command: list[str], folder: Path) -> str:
    """What a terminal shows at the end of a command."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, WIDTH))
    child = subprocess.Popen(command, cwd=folder, env=environment(), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
    child.wait()
    os.close(ours)
    return screen_of(seen.decode(errors="replace"))


def screen_of(written: str) -> str:
    """What stands on a terminal in the end, empty lines left out: bars move the cursor back and up, and write over themselves."""
    lines: list[list[str]] = [[]]
    row = column = 0
    for control, upwards, erase, character in TERMINAL.findall(written):
        if control == "\r":
            column = 0
        elif control == "\n":
            row += 1
        elif upwards:
            row = max(0, row - int(upwards[2:-1] or 1))
        elif erase:
            del lines[row][column:]
        elif character:
            if column == WIDTH:
                row, column = row + 1, 0
            lines += [[] for _ in range(row + 1 - len(lines))]
            lines[row] += " " * (column - len(lines[row]))
            lines[row][column : column + 1] = character
            column += 1
        lines += [[] for _ in range(row + 1 - len(lines))]
    return "\n".join(line for line in ("".join(line).rstrip() for line in lines) if line)


def in_file(command: list[str], folder: Path) -> str:
    """What a file gets."""
    pipe = subprocess.PIPE
    done = subprocess.run(command, cwd=folder, env=environment(), stdout=pipe, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT), "COLUMNS": str(WIDTH), "WANDB_MODE": "offline"}


def train(arguments: list[str], folder: Path, seen: Callable[[list[str], Path], str]) -> str:
    """The command line and what came of it, with folders as they are in a checkout."""
    said = _without(folder, seen([sys.executable, str(PROJECT / "train.py"), *arguments, "logger=csv"], folder))
    typed = " ".join(f"'{word}'" if re.search(r"[&#~]", word) else word for word in arguments)
    return _shortened(f"$ python train.py {typed}{' > log' if seen is in_file else ''}\n{said}")


def _without(folder: Path, text: str) -> str:
    """Paths as from within the folder; cells of a table stay as wide as they are."""
    here = f"{folder.resolve()}/"
    return re.sub(f"{re.escape(here)}([^│\n]*)(?=│)", lambda cell: cell[1] + " " * len(here), text).replace(here, "")


def _shortened(text: str) -> str:
    """Long lines are folded between words, and of a long screen the middle is left out."""
    fold = partial(textwrap.wrap, width=WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    lines = [part for line in text.splitlines() for part in (fold(line) if len(line) > WIDTH else [line])]
    if len(lines) > LINES:
        lines = [*lines[: LINES // 2], "...", *lines[-LINES // 2 :]]
    return "\n".join(lines)


def download(folder: Path) -> str:
    """A file of this machine's own server, sent slowly enough to be seen."""
    (folder / "served").mkdir()
    (folder / "served" / "digits.zip").write_bytes(os.urandom(30 << 20))

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder / "served"))  # type: ignore[arg-type]

        def copyfile(self, source: BinaryIO, outputfile: BinaryIO) -> None:  # type: ignore[override]
            while part := source.read(1 << 20):
                time.sleep(0.03)
                outputfile.write(part)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        remote = f"Remote(['http://127.0.0.1:{server.server_port}/digits.zip'], size={30 << 20})"
        code = f"from pathlib import Path; from t3cen.data.download import *; fetch({remote}, Path('digits.zip'))"
        said = on_terminal([sys.executable, "-c", code], folder)
        server.shutdown()
    return said


SCREENS: dict[str, Callable[[Path], str]] = {
    "run": lambda folder: train(RUN, folder, on_terminal),
    "sweep": lambda folder: train(SIX, folder, in_file),
    "failing": lambda folder: train(FAILING, folder, on_terminal),
    "mistakes": lambda folder: "\n".join(train(line, folder, in_file).replace(" > log", "") for line in MISTAKES),
    "download": download,
}


def form(screen: str) -> list[str]:
    """The words of a screen, without numbers, times, bars, spaces and whatever lies between two of them."""
    lines = (re.sub(r"[\d.,:?]+|[█▏▎▍▌▋▊▉─-╿]+|\s+|[kMG]?B/s|s/run|run/s|s/it|it/s", " ", line) for line in screen.splitlines())
    return [" ".join(line.split()) for line in lines if line.strip()]


def alike(page: str, now: str) -> bool:
    """Whether a screen has the form that the page shows; `...` on the page, in a line or for lines, stands for anything."""
    parts = [re.escape("\n".join(form(part))) for part in page.split("...")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), "\n".join(form(now)), re.DOTALL) is not None


def on_page(text: str) -> dict[str, str]:
    """The screens of a page by name."""
    return {match[2]: "\n".join(line[4:] for line in match[3].rstrip().splitlines()) for match in MARK.finditer(text)}


def with_screen(text: str, name: str, screen: str) -> str:
    """The text of a page with one of its screens made anew."""
    block = "".join(f"    {line}".rstrip() + "\n" for line in screen.splitlines())
    return MARK.sub(lambda match: match[1] + block if match[2] == name else match[0], text)


def made(name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return SCREENS[name](Path(folder))


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    shown = on_page(text)
    if set(shown) != set(SCREENS):
        sys.exit(f"{PAGE.name} has the screens {', '.join(shown)}; this script makes {', '.join(SCREENS)}")
    wanted = [name for name in SCREENS if name in arguments or set(SCREENS).isdisjoint(arguments)]
    if "--check" in arguments:
        other = [name for name in wanted if not alike(shown[name], made(name))]
        print(f"of another form than on the page: {', '.join(other)}" if other else "the page shows what is seen")
        return 1 if other else 0
    for name in wanted:  # each is written at once: it may have taken minutes
        screen = made(name)
        PAGE.write_text(with_screen(PAGE.read_text(encoding="utf-8"), name, screen), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
