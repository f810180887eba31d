"""A run's folder: named by what the run is, never by the clock."""

from __future__ import annotations

import hashlib
import re

from omegaconf import OmegaConf

LONGEST = 120
VALUE = re.compile(r"(?<==)[^,=]+(?=,|$)")


def run_folder(scale: str, name: str, seed: int, overrides: str = "") -> str:
    """`<scale>/<name>/[<overrides>/]seed<seed>`; overrides too long for a folder name end in their hash.

    Args:
        overrides: what the command line changed, as Hydra writes it (`hydra.job.override_dirname`).
    """
    overrides = VALUE.sub(_spelled, overrides)
    changed = re.sub(r"[^\w.=,+-]", "_", overrides)
    if len(changed) > LONGEST:
        changed = f"{changed[: LONGEST - 17]}-{hashlib.sha256(overrides.encode()).hexdigest()[:16]}"
    elif changed != overrides:
        changed = f"{changed}-{hashlib.sha256(overrides.encode()).hexdigest()[:8]}"
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
