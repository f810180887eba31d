"""Looks once for the data of many runs, before any of them is started."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from t3cen.training.outcome import fail
from t3cen.training.plan import Job

log = logging.getLogger(__name__)


def missing_data(jobs: Sequence[Job]) -> dict[Path, str]:
    """Look for the files of each data set of several runs, once each; a single run looks for its own.

    Returns:
        by folder, why a run cannot begin, which is left in the folder too.
    """
    sets: dict[str, list[Job]] = {}
    for job in jobs if len(jobs) > 1 else ():
        if job.config["data"].get("source") == "files":
            sets.setdefault(_files(job.config), []).append(job)
    found: dict[Path, str] = {}
    for same in sets.values():
        if reason := _trouble(same[0].config):
            log.error("%d runs cannot begin: %s", len(same), reason)
            found |= {job.folder: fail(job.folder, "raised", reason) for job in same}
    return found


def _files(config: Mapping[str, Any]) -> str:
    """Of runs that read the same files in the same way, the same."""
    return json.dumps({key: value for key, value in config["data"].items() if key != "seed"}, sort_keys=True)


def _trouble(config: Mapping[str, Any]) -> str:
    from t3cen.data.errors import DataError
    from t3cen.training.run import make_data  # these take seconds to import

    try:
        make_data(config).setup()
    except DataError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:  # the run meets it too, and leaves it in its folder with a traceback
        log.debug("the data could not be looked at: %s", error)
    return ""
