"""Send the offline runs of a results folder to Weights & Biases, all in one go.

    t3cen sync                             everything below outputs that was not sent yet
    t3cen sync outputs/laptop/mnist_h4     what lies below a folder
    t3cen sync --dry-run                   lists it, and sends nothing

Several sittings of a run are sent in their order. What was sent is marked beside it and never sent again, so the same command
goes on after whatever stopped it. The server and the key are wandb's: WANDB_BASE_URL, WANDB_API_KEY or `wandb login`.
"""

import argparse
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from t3cen.commands import enter, parser_of
from t3cen.progress import Progress, logs_beside
from t3cen.training.closing import near
from t3cen.training.job import environment

AT_ONCE = 50
"""Runs handed to one process of wandb."""
PATIENCE = 10.0
"""Seconds a server may take to answer at all; wandb itself asks for hours."""


def unsent(folders: Sequence[Path]) -> dict[str, list[Path]]:
    """By run, the folders of its offline sittings that were not sent, oldest first."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in sorted({path for folder in folders for path in folder.rglob("offline-run-*/run-*.wandb")}):
        if not _is_sent(file.parent):
            found[file.stem].append(file.parent)
    return found


def _is_sent(sitting: Path) -> bool:
    return any(sitting.glob("*.wandb.synced"))


def command(sittings: Sequence[Path], options: argparse.Namespace) -> list[str]:
    """The line of wandb that sends some sittings."""
    given = {"--project": options.project, "--entity": options.entity}
    chosen = [word for key, value in given.items() if value for word in (key, value)]
    return [sys.executable, "-m", "wandb", "sync", "--yes", *chosen, *map(str, sittings)]


def unreachable(server: str) -> str:
    """Why a server does not answer; nothing if it does, whatever it says."""
    try:
        urllib.request.urlopen(server, timeout=PATIENCE).close()
    except urllib.error.HTTPError as answer:
        answer.close()
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))
    return ""


def send(runs: dict[str, list[Path]], options: argparse.Namespace) -> tuple[int, str]:
    """How many runs were sent, and what wandb said last where some were not."""
    waiting, left, said = iter(runs.items()), len(runs), ""
    with logs_beside(), Progress("runs", total=len(runs), unit="run", every=0) as progress:
        while batch := dict(islice(waiting, AT_ONCE)):
            line = command([sitting for sittings in batch.values() for sitting in sittings], options)
            done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
            sent = sum(all(map(_is_sent, sittings)) for sittings in batch.values())
            progress.update(sent)
            left -= sent
            if sent < len(batch):
                said = next(iter(reversed((done.stdout + done.stderr).strip().splitlines())), "").strip()
                if not sent:
                    break
    return len(runs) - left, said


def main(arguments: list[str]) -> int:
    parser = parser_of("sync", __doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("outputs")], help="folders of results (default: outputs)")
    parser.add_argument("--project", help="send them there, not to the project they were made for")
    parser.add_argument("--entity", help="user or team that they are sent to (default: that of the run, else your own)")
    parser.add_argument("--dry-run", action="store_true", help="list what would be sent")
    options = parser.parse_args(arguments)
    if absent := [str(folder) for folder in options.folders if not folder.is_dir()]:
        sys.stderr.write(f"t3cen sync: no folder {', '.join(absent)}; name folders that hold results\n")
        return 2
    runs = unsent(options.folders)
    sittings = sum(map(len, runs.values()))
    counted = f"{len(runs)} run{'' if len(runs) == 1 else 's'}" + (f" in {sittings} sittings" if sittings > len(runs) else "")
    if options.dry_run:
        print("\n".join([f"would send {counted}", *(f"  {near(path)}" for paths in runs.values() for path in paths)]))
        return 0
    if not runs:
        print(f"nothing to send below {', '.join(map(str, options.folders))}")
        return 0
    os.environ.setdefault("WANDB_DIR", str(options.folders[0]))  # of wandb's own logs, which else lie in the working directory
    import wandb  # here: --help needs none

    server = wandb.setup().settings.base_url
    if why := unreachable(server):
        sys.stderr.write(
            f"t3cen sync: {server} does not answer ({why}); left as they are: {counted}; the same command sends them\n"
        )
        return 1
    sent, said = send(runs, options)
    print(f"{sent} of {counted} sent to {server}")
    if sent < len(runs):
        sys.stderr.write(f"t3cen sync: {len(runs) - sent} runs were not sent; wandb says: {said}\n")
        return 1
    return 0


if __name__ == "__main__":
    enter("sync", main)
