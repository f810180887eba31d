"""Every claim of the paper's text with a verdict: `conf/claims.yaml` says what each is held against, and this computes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from t3cen.project import command, conf_dir
from t3cen.tables.claim_checks import Evidence, Found, check

HOLDS, IN_PART, CONTRADICTED, NOT_SEEN, UNTESTABLE = VERDICTS = (
    "holds", "in part", "contradicted by the paper's own table", "not seen here", "not testable here",
)  # fmt: skip
SHOWN = 2
"""Comparisons that a line names; those that fail come first."""


@dataclass(frozen=True)
class Claim:
    """One claim. `paper` are checks against printed numbers, `here` those against ours; `note` says why where neither can be."""

    text: str
    where: str
    paper: tuple[Mapping[str, Any], ...] = ()
    here: tuple[Mapping[str, Any], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, the numbers behind it, and the commands that make them."""

    claim: Claim
    verdict: str
    numbers: str
    commands: tuple[str, ...]


def read(path: Path | None = None) -> list[Claim]:
    """The claims of conf/claims.yaml, in the order of the paper.

    Raises:
        ValueError: an entry with another key.
    """
    entries: list[dict[str, Any]] = yaml.safe_load((path or conf_dir() / "claims.yaml").read_text(encoding="utf-8"))
    fixed: list[dict[str, Any]] = [
        {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()} for one in entries
    ]
    try:
        return [Claim(**one) for one in fixed]
    except TypeError as error:
        raise ValueError(f"conf/claims.yaml: {error}") from error


def judge(claim: Claim, evidence: Evidence) -> Judged:
    """What the numbers say of a claim.

    The paper's own numbers come first: one that is otherwise contradicts. Ours decide the rest; a claim that holds in print and
    that nothing here tests is not testable here.
    """
    printed = [found for one in claim.paper for found in check(one, None)]
    ours = [found for one in claim.here for found in check(one, evidence)]
    wrong, right = [f for f in printed if not f.holds], [f for f in ours if f.holds]
    if wrong:
        verdict = CONTRADICTED
    elif all(f.holds is None for f in ours):
        verdict = UNTESTABLE
    elif len(right) == len(ours):
        verdict = HOLDS
    else:
        verdict = IN_PART if right else NOT_SEEN
    numbers = [f"{name}: {_shown(found)}" for name, found in (("paper", printed), ("here", ours)) if found]
    told = ". ".join([*numbers, claim.note]).strip(". ")
    return Judged(claim, verdict, told, tuple(dict.fromkeys(_commands(claim, bool(ours)))))


def count(judged: list[Judged]) -> dict[str, int]:
    """How many claims have each verdict."""
    return {verdict: sum(one.verdict == verdict for one in judged) for verdict in VERDICTS}


def _shown(found: list[Found]) -> str:
    ordered = sorted(found, key=lambda one: bool(one.holds))
    count = "" if len(found) == 1 else f"{sum(bool(one.holds) for one in found)} of {len(found)} as claimed; "
    left = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return count + "; ".join(one.numbers for one in ordered[:SHOWN]) + left


def _commands(claim: Claim, ours: bool) -> Iterator[str]:
    for one in claim.paper:
        yield f"{command('tables')} {one['table']}" if "table" in one else command("claims")
    for one in claim.here if ours else ():
        name = one.get("table") or one.get("measured")
        yield f"make reproduce TABLE={name}" if name else command("claims")


def render(judged: list[Judged], scale: str) -> str:
    """The page docs/claims.md."""
    counts = count(judged)
    head = [
        "# The paper's claims, one by one",
        "",
        f"`{command('claims')} > docs/claims.md` writes this page from `conf/claims.yaml`, the printed numbers (`conf/table`)",
        f"and the committed results ([results](results/README.md), scale {scale}). A test writes it again and compares.",
        "",
        "| verdict | claims | what it means |",
        "|---|---:|---|",
        f"| {HOLDS} | {counts[HOLDS]} | in print, and in every comparison here |",
        f"| {IN_PART} | {counts[IN_PART]} | in some of the comparisons here |",
        f"| {CONTRADICTED} | {counts[CONTRADICTED]} | a number that the paper prints is otherwise |",
        f"| {NOT_SEEN} | {counts[NOT_SEEN]} | in no comparison here |",
        f"| {UNTESTABLE} | {counts[UNTESTABLE]} | nothing here can test it |",
        "",
        "Of two networks trained here one is better where every seed of it is better than every seed of the other; one seed",
        "tells nothing. What is trained here is small and short, on made pictures but for digits: it can show that a claim",
        "holds there, not that it fails in the paper's experiments.",
        "",
        "| | claim | where | verdict | numbers | command |",
        "|---:|---|---|---|---|---|",
    ]
    lines = [
        f"| {number} | {one.claim.text} | {one.claim.where} | **{one.verdict}** | {one.numbers} | "
        f"{'<br>'.join(f'`{line}`' for line in one.commands) or '–'} |"
        for number, one in enumerate(judged, start=1)
    ]
    return "\n".join([*head, *lines]) + "\n"
