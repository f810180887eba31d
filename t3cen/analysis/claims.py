"""Which of the paper's statements about its double-cover lifting hold, for which cover."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from t3cen.analysis.coverage import distinct_values, most_covered, orbit_values
from t3cen.analysis.entropy import best_orders, entropy_density, interval_entropy
from t3cen.analysis.redundancy import redundant_values

ORDER = 4
ORDERS = tuple(range(1, 21))


class Statement(NamedTuple):
    """A sentence of the paper, whether it holds, and what was measured."""

    text: str
    holds: bool
    measured: str


def statements(cover: str, points: int = 4000) -> list[Statement]:
    """The paper's statements (sections "Analyzing lifting layer coverage" to "Selecting the right order"), for one cover.

    Args:
        cover: `"triangle"`, `"sine"` or `"half_sine"`.
        points: values between 0 and 1 that maxima and means are taken over.
    """
    values = torch.linspace(0, 1, points + 1, dtype=torch.float64)
    at_named = orbit_values(torch.arange(ORDER + 1, dtype=torch.float64) / ORDER, ORDER, cover)
    distinct = distinct_values(at_named).tolist()
    redundant = redundant_values(ORDER, cover)
    density = entropy_density(values, ORDERS, cover)
    mean = density.mean(1)
    counts = torch.bincount(best_orders(density, ORDERS), minlength=ORDERS[-1] + 1)
    roll = _roll_error(values, cover)
    printed = sorted({0, 1 / ORDER, 2 / ORDER, 3 / ORDER, 1})
    orbit = sorted({round(v, 6) for v in orbit_values(0.0, ORDER, cover).tolist()})
    return [
        Statement("a shift of the value by 0.5 is a cyclic permutation (N=4)", roll < 1e-9, f"largest difference {roll:.3f}"),
        _maxima("coverage is greatest at k/N - 1/2N, by the printed sum", values, cover, "gaps"),
        _maxima("the same, the pieces normalised", values, cover, "normalized"),
        _maxima("the same, with the two end pieces", values, cover, "all"),
        Statement(
            "inputs k/N are redundant",
            torch.allclose(redundant, torch.arange(ORDER + 1, dtype=torch.float64) / ORDER, atol=1e-9),
            "redundant inputs " + _list(redundant.tolist()),
        ),
        Statement(
            "at inputs k/N at most N/2 + 1 lifted values differ", max(distinct) <= ORDER // 2 + 1, f"different values {distinct}"
        ),
        Statement("the lifted values of input 0 are 0, 1/N, 2/N, ..., 1", orbit == printed, f"they are {_list(orbit)}"),
        Statement(
            "0.5 repeats more values than 0.25 and 0.75",
            distinct[2] < min(distinct[1], distinct[3]),
            f"different values {distinct}",
        ),
        Statement(
            "H/N, averaged over inputs, is greatest at order 4",
            ORDERS[int(mean.argmax())] == ORDER,
            f"at order {ORDERS[int(mean.argmax())]}; order 4 has {(mean[ORDER - 1] / mean.max()).item():.1%} of it",
        ),
        Statement(
            "order 4 is the best order for most inputs, more than any other",
            int(counts.argmax()) == ORDER,
            f"best for {counts[ORDER].item() / len(values):.0%} of inputs",
        ),
        _most_frequent("the same, the pieces normalised", values, cover, "normalized"),
        _most_frequent("the same, with the two end pieces", values, cover, "all"),
    ]


def _most_frequent(text: str, values: Tensor, cover: str, pieces: str) -> Statement:
    best = best_orders(entropy_density(values, ORDERS, cover, pieces), ORDERS)
    counts = torch.bincount(best, minlength=ORDERS[-1] + 1)
    first = int(counts.argmax())
    return Statement(
        f"order 4 for most inputs: {text}", first == ORDER, f"order {first} is, for {counts[first].item() / len(values):.0%}"
    )


def _maxima(text: str, values: Tensor, cover: str, pieces: str) -> Statement:
    entropy = interval_entropy(orbit_values(values, ORDER, cover), pieces)
    inner = (entropy[1:-1] >= entropy[:-2]) & (entropy[1:-1] >= entropy[2:])
    peaks = values[1:-1][inner]
    highest = peaks[entropy[1:-1][inner] > entropy.max() - 1e-5]
    named = most_covered(ORDER)
    holds = len(highest) == len(named) and torch.allclose(highest, named, atol=2 / len(values))
    return Statement(text, holds, "greatest at " + _list(highest.tolist()))


def _roll_error(values: Tensor, cover: str) -> float:
    """How far lifting `v + 0.5` is from rolling what `v` lifts to, for all v up to 0.5."""
    low = values[values <= 0.5]
    before, after = orbit_values(low, ORDER, cover), orbit_values((low + 0.5).clamp(max=1), ORDER, cover)
    return (after - before.roll(-1, 1)).abs().max().item()


def _list(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}".rstrip("0").rstrip(".") for value in values)
