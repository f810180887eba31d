"""A `result.json`: a whole, consistent record of a finished run, or refused with its reason."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from t3cen.experiments import code, plain_json
from t3cen.experiments.consistency import BadRecord, check, check_place, cut_short
from t3cen.experiments.identity import data_identity, digest, is_neutral, setting_hash

__all__ = ["RESULT", "SCHEMA", "BadRecord", "Record", "cut_short", "read", "sealed"]

RESULT = "result.json"
SCHEMA = 2
UNSEALED = 1
"""The schema of records without a digest of themselves."""
DIGEST = "digest"


@dataclass(frozen=True)
class Record:
    """One finished run as its trainer wrote it."""

    path: Path
    content: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.content["name"]

    @property
    def scale(self) -> str:
        return self.content["scale"]

    @property
    def seed(self) -> int:
        return self.content["seed"]

    @property
    def config(self) -> Mapping[str, Any]:
        return self.content["config"]

    @property
    def tests(self) -> Mapping[str, Mapping[str, float]]:
        """`error` (a fraction), `correct`, `total` and `loss` of each test set."""
        return self.content["metrics"]["test"]

    @property
    def has_digest(self) -> bool:
        """Whether a change since it was written would have been noticed."""
        return self.content["schema"] != UNSEALED

    @property
    def source(self) -> str:
        """Where the pictures came from: files, bundled, rendered, synthetic or fake."""
        return self.content["data_provenance"]["source"]

    @property
    def commit(self) -> str:
        return self.content.get("commit") or "unknown"

    @property
    def commits(self) -> tuple[str, ...]:
        """The commit of every sitting, each once."""
        return tuple(dict.fromkeys(sitting["commit"] for sitting in self.content.get("sittings") or ())) or (self.commit,)

    @property
    def dirty(self) -> bool:
        return bool(self.content.get("dirty", False))

    @property
    def code(self) -> str:
        """A name for the code that decided the result: equal for records that may be averaged as far as code goes.

        The recorded fingerprint, or, for a record without one, the commit and whether it was altered.
        """
        return self.content.get("code_hash") or self.commit + ("+" if self.dirty else "")

    @property
    def is_of_todays_code(self) -> bool:
        """Whether that code is on disk now; never where the record has no fingerprint, or an older one of all of t3cen."""
        return self.code == code.todays(self.config)

    @property
    def changes(self) -> tuple[str, ...]:
        """Overrides of the command line that change what is trained, in no order that matters."""
        overrides = self.content.get("overrides") or ()
        return tuple(sorted(o for o in overrides if not is_neutral(o)))

    @cached_property
    def setting(self) -> str:
        """`identity.setting_hash` of the configuration: equal for the seeds of one setting."""
        return setting_hash(self.config)

    @cached_property
    def provenance(self) -> str:
        """What the data were, wherever they were kept, as one comparable string."""
        return json.dumps(data_identity(self.content["data_provenance"]), sort_keys=True)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """A record as it is written: its values as JSON holds them, checked as `read` does, with a digest of all of them.

    Raises:
        BadRecord: it would be refused.
    """
    plain = json.loads(json.dumps({**content, "schema": SCHEMA}, allow_nan=False))
    plain.pop(DIGEST, None)
    check(plain)
    return {**plain, DIGEST: digest(plain)}


def read(path: Path) -> Record:
    """The record at `path`.

    Raises:
        BadRecord: no file, not plain JSON, another schema, a record that contradicts itself or the folder it lies in
            (`t3cen.experiments.consistency`), or one that is not what was written.
    """
    try:
        content = plain_json.read(path)
    except plain_json.BadFile as error:
        raise BadRecord(str(error)) from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if isinstance(schema, bool) or schema not in (UNSEALED, SCHEMA):
        raise BadRecord(f"it has schema {schema!r}, {UNSEALED} or {SCHEMA} expected")
    check(content)
    check_place(content, path)
    written = content.pop(DIGEST, None)
    if written != digest(content) and (schema == SCHEMA or written is not None):
        raise BadRecord("it was changed since it was written: its digest is another" if written else "it has lost its digest")
    return Record(path, content)
