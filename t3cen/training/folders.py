"""A run's folder: named by what the run is, never by the clock."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from omegaconf import OmegaConf

from t3cen.experiments.identity import is_neutral

LONGEST = 120
VALUE = re.compile(r"(?<==)[^,=]+(?=,|$)")


def run_folder(scale: str, name: str, seed: int, overrides: Iterable[str] = ()) -> str:
    """`<scale>/<name>/[<overrides>/]seed<seed>`; overrides too long for a folder name end in their hash.

    Args:
        overrides: the lines of the command line (`hydra.overrides.task`); those that cannot change a result are left out.
    """
    lines = VALUE.sub(_spelled, ",".join(sorted(line for line in overrides if not is_neutral(line))))
    changed = re.sub(r"[^\w.=,+-]", "_", lines)
    if len(changed) > LONGEST:
        changed = f"{changed[: LONGEST - 17]}-{hashlib.sha256(lines.encode()).hexdigest()[:16]}"
    elif changed != lines:
        changed = f"{changed}-{hashlib.sha256(lines.encode()).hexdigest()[:8]}"
    return "/".join(part for part in (scale, name, changed, f"seed{seed}") if part)


def _spelled(value: re.Match[str]) -> str:
    """One spelling of a number or a truth value, which Hydra leaves as given for one run and writes anew in a sweep."""
    text = value[0]
    if text.lower() in ("true", "false"):
        return text.lower()
    try:
        return text if text.lstrip("+-").isdigit() else repr(float(text))
    except ValueError:
        return text


def register_resolvers() -> None:
    """Make `${run_folder:scale,name,seed,overrides}` known to OmegaConf."""
    OmegaConf.register_new_resolver("run_folder", run_folder, replace=True)
