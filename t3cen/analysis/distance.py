"""How far one distribution of colours lies from another: the earth mover's distance on an interval and on a circle."""

from __future__ import annotations

from torch import Tensor


def interval_distance(a: Tensor, b: Tensor, length: float = 1.0) -> float:
    """Mean way a unit of mass travels when histogram `a` is turned into `b`, along an interval.

    Args:
        a, b: `(bins,)` masses of the same equal bins; scaled to sum to 1.
        length: of the interval.

    Raises:
        ValueError: different shapes, or no mass.
    """
    return _cumulated(a, b).abs().sum().item() * length / len(a)


def circle_distance(a: Tensor, b: Tensor, length: float = 1.0) -> float:
    """The same along a circle of circumference `length`, where mass may take the shorter way round; at most `length / 2`.

    Source: Werman, Peleg & Rosenfeld, "A distance metric for multidimensional histograms", 1985.
    """
    difference = _cumulated(a, b)
    # Cutting the circle anywhere adds a constant to the difference; the median is the best place to cut.
    return (difference - difference.median()).abs().sum().item() * length / len(a)


def _cumulated(a: Tensor, b: Tensor) -> Tensor:
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two histograms of the same bins expected, got shapes {tuple(a.shape)} and {tuple(b.shape)}")
    if not (a.sum() > 0 and b.sum() > 0):
        raise ValueError("a histogram holds no mass, so there is nothing to move")
    a, b = a.double(), b.double()
    return (a / a.sum() - b / b.sum()).cumsum(0)
