"""Whether our mean and the paper's printed mean can be of the same thing."""

import math
import re
from dataclasses import dataclass

from scipy import special

from t3cen.results.cells import Statistic

LEVEL = 0.05
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
    """Ours minus the paper's, with the 95% interval of the difference and the p-value where they can be had."""

    difference: float
    low: float | None
    high: float | None
    p: float | None
    agrees: bool | None
    method: str


def compare(ours: Statistic, paper: Published) -> Comparison:
    """Test the hypothesis that both means are of one quantity, at level 0.05.

    Welch's test where the paper prints a standard deviation; where it does not, a one-sample t-test of ours against the
    printed mean. The paper's rounding counts as part of the interval. With n = 1 on our side there is no test; where neither
    side has any spread, the means agree if they are equal up to rounding.
    """
    difference = ours.mean - paper.mean
    if ours.sd is None:
        return Comparison(difference, None, None, None, None, "no test: n = 1")
    ours_variance = ours.sd**2 / ours.n
    paper_variance = paper.sd**2 / paper.n if paper.sd is not None and paper.n > 1 else 0.0
    error = math.sqrt(ours_variance + paper_variance)
    welch = paper.sd is not None and paper.n > 1
    if error == 0:
        agrees = abs(difference) <= paper.rounding + 1e-9
        return Comparison(difference, None, None, None, agrees, "no spread: equal up to rounding")
    freedom = (ours_variance + paper_variance) ** 2 / (
        ours_variance**2 / (ours.n - 1) + (paper_variance**2 / (paper.n - 1) if welch else 0.0)
    )
    reach = float(special.stdtrit(freedom, 1 - LEVEL / 2)) * error
    excess = max(abs(difference) - paper.rounding, 0.0)
    p = float(2 * special.stdtr(freedom, -excess / error))
    low, high = difference - reach - paper.rounding, difference + reach + paper.rounding
    return Comparison(difference, low, high, p, p >= LEVEL, "Welch" if welch else "one-sample t")
