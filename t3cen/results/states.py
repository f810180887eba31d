"""Where a run stands, from what lies in its folder: done, running, failed, unfinished or missing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from t3cen.experiments.composition import is_current
from t3cen.experiments.record import RESULT, BadRecord, read
from t3cen.results.logs import steps_done
from t3cen.training.outcome import outcome

STATES = ("done", "running", "stale", "failed", "unfinished", "missing")
"""In the order in which several folders of one run (other data sources) are weighed against each other."""


@dataclass(frozen=True)
class State:
    """One seed of one run. `reason` says why it failed or is not used; `steps` is how far it got; `seconds` a step took."""

    kind: str
    reason: str = ""
    steps: int = 0
    seconds: float | None = None
    folder: Path | None = None


def state_of(outputs: Path, scale: str, name: str, seed: int) -> State:
    """The state of `<outputs>/<scale>/<name>/seed<seed>`, or of the same run on another data source if that got further."""
    found = [_state(folder) for folder in _folders(Path(outputs) / scale / name, seed)]
    return min(found, key=lambda state: STATES.index(state.kind), default=State("missing"))


def _folders(run: Path, seed: int) -> Iterator[Path]:
    for folder in (run, *sorted(run.glob("*data.source=*"))):
        alone = folder == run or re.fullmatch(r"\+*data\.source=[^,]*", folder.name)  # with other settings it is another run
        if alone and (folder / f"seed{seed}").is_dir():
            yield folder / f"seed{seed}"


def _state(folder: Path) -> State:
    if (folder / RESULT).exists():
        try:
            record = read(folder / RESULT)
        except BadRecord as error:
            return State("failed", f"its result is refused: {error}", folder=folder)
        reason = "" if is_current(record) else "its configuration is not the one composed today"
        if record.source == "fake":
            reason = "it is of fake pictures; with the real ones in their place the same command trains it again"
        return State(
            "stale" if reason else "done",
            reason,
            int(record.content.get("steps") or 0),
            record.content.get("step_seconds"),
            folder,
        )
    found = outcome(folder, {})
    return State(found.state, found.reason if found.state == "failed" else "", steps_done(folder), folder=folder)
