"""The difference of our mean from the paper's, its interval, and a word: *agrees* only where that is shown."""

import math
import re
from dataclasses import dataclass

from scipy import special

from t3cen.results.cells import Statistic

LEVEL = 0.05
MARGIN = 1.0
"""Points: means whose difference surely lies within it agree."""
AGREES, DIFFERS, UNDECIDED = VERDICTS = ("agrees", "differs", "not decided")
_PRINTED = re.compile(r"(\*\*|_)?\s*([\d.]+(?:e-?\d+)?)(?:\s*\(([\d.]+)\))?\s*(\*\*|_)?")
_MARKS = {"**": "best", "_": "second", None: None}


@dataclass(frozen=True)
class Published:
    """One printed cell. `sd` is None where the paper prints none; `rounding` is half a unit of the last printed digit."""

    mean: float
    sd: float | None
    n: int
    mark: str | None
    rounding: float


def published(cell: str | None, n: int) -> Published | None:
    """The number in a cell of a table file, or None where it holds none ("not possible", nothing)."""
    match = _PRINTED.fullmatch(cell) if cell else None
    if match is None:
        return None
    digits = match[2].partition("e")[0].partition(".")[2]
    scale = 10.0 ** float(match[2].partition("e")[2] or 0)
    return Published(
        float(match[2]), float(match[3]) if match[3] else None, n, _MARKS[match[1]], 0.5 * 10.0 ** -len(digits) * scale
    )


@dataclass(frozen=True)
class Comparison:
    """Ours minus the paper's, with the 95% interval of the difference where it can be had, and what follows from it.

    `verdict` is one of `VERDICTS`, or empty where nothing follows: at a reduced scale, on made pictures, from one measurement.
    """

    difference: float
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    method: str = "no test"


def compare(ours: Statistic, paper: Published, *, judged: bool = True) -> Comparison:
    """How far our mean lies from the paper's, and how sure that is.

    The interval is Welch's where the paper prints a standard deviation; where it does not, that of a one-sample t-test of ours
    against the printed mean. The paper's rounding counts as part of it. With n = 1 on our side there is none. Where neither
    side has any spread, it is the rounding.

    Args:
        ours: in percent.
        judged: whether the two are of the same experiment, so that a verdict may follow.
    """
    difference = ours.mean - paper.mean
    if ours.sd is None:
        return Comparison(difference, verdict=UNDECIDED if judged else "", method="no interval: n = 1")
    ours_variance = ours.sd**2 / ours.n
    paper_variance = paper.sd**2 / paper.n if paper.sd is not None and paper.n > 1 else 0.0
    error = math.sqrt(ours_variance + paper_variance)
    welch = paper.sd is not None and paper.n > 1
    reach, method = 0.0, "no spread"
    if error > 0:
        freedom = (ours_variance + paper_variance) ** 2 / (
            ours_variance**2 / (ours.n - 1) + (paper_variance**2 / (paper.n - 1) if welch else 0.0)
        )
        reach = float(special.stdtrit(freedom, 1 - LEVEL / 2)) * error
        method = "Welch" if welch else "one-sample t"
    low, high = difference - reach - paper.rounding, difference + reach + paper.rounding
    return Comparison(difference, low, high, verdict(low, high) if judged else "", method)


def verdict(low: float, high: float) -> str:
    """What an interval of the difference, in points, says: within the margin, apart from 0, or neither."""
    if low >= -MARGIN and high <= MARGIN:
        return AGREES
    return UNDECIDED if low <= 0 <= high else DIFFERS
